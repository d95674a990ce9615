import tensorflow.compat.v1 as tf


@decorate(tf.pack)
class A(tf.select, metaclass=tf.sub):
    a = tf.mul; b = tf.neg  # two on a line

    @tf.pack
    async def f(self, x=tf.sub, *args: tf.mul, key=lambda y: tf.neg(y)) -> tf.pack:
        async with tf.pack(1) as p, tf.unpack(2):
            await tf.pack
        async for i in tf.unpack(3):
            yield tf.neg(i)


if tf.neg(1): tf.neg(2)
elif (tf.  # a comment
      neg(3)):
    pass
elif tf.neg(4):
    x = tf.pack(
        # a comment
        tf.neg(5), {tf.sub: [tf.mul for i in tf.pack if tf.neg], **tf.pack}
    )
else:
    while tf.neg(6): break
    for i in tf.pack, \
            tf.unpack: continue

try:
    pass
except tf.neg as error:
    raise tf.neg(7) from tf.neg
except (tf.sub, tf.mul):
    del tf.pack(8)[tf.neg : tf.sub]
finally:
    assert tf.neg(9), f"{tf.neg(10):{tf.pack}} {tf.sub!r}"

match tf.neg(11):
    case [a, *b] if tf.sub(12):
        x: tf.pack = tf.mul
        x += tf.neg
	
with (
    tf.pack(13) as q,
    tf.unpack(14),
):
    é = "é"; print("ü", tf.neg(é), "ö", tf.sub(é))
