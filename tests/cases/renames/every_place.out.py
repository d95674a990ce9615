import tensorflow.compat.v1 as tf


@decorate(tf.stack)
class A(tf.where, metaclass=tf.subtract):
    a = tf.multiply; b = tf.negative  # two on a line

    @tf.stack
    async def f(self, x=tf.subtract, *args: tf.multiply, key=lambda y: tf.negative(y)) -> tf.stack:
        async with tf.stack(1) as p, tf.unstack(2):
            await tf.stack
        async for i in tf.unstack(3):
            yield tf.negative(i)


if tf.negative(1): tf.negative(2)
elif (tf.  # a comment
      negative(3)):
    pass
elif tf.negative(4):
    x = tf.stack(
        # a comment
        tf.negative(5), {tf.subtract: [tf.multiply for i in tf.stack if tf.negative], **tf.stack}
    )
else:
    while tf.negative(6): break
    for i in tf.stack, \
            tf.unstack: continue

try:
    pass
except tf.negative as error:
    raise tf.negative(7) from tf.negative
except (tf.subtract, tf.multiply):
    del tf.stack(8)[tf.negative : tf.subtract]
finally:
    assert tf.negative(9), f"{tf.negative(10):{tf.stack}} {tf.subtract!r}"

match tf.negative(11):
    case [a, *b] if tf.subtract(12):
        x: tf.stack = tf.multiply
        x += tf.negative
	
with (
    tf.stack(13) as q,
    tf.unstack(14),
):
    é = "é"; print("ü", tf.negative(é), "ö", tf.subtract(é))
