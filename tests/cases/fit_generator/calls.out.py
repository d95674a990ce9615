from keras.models import Model


class Trainer(object):
    def train(self, batches, more):
        # TODO(codemod TFB502): fit_generator is fit in Keras 3, and samples_per_epoch counts samples. Call fit with steps: samples divided by the size of a batch
        self.model.fit_generator(
            generator=batches,
            samples_per_epoch=1000,
            nb_epoch=2)
        self.model.fit(batches, steps_per_epoch=10, epochs=2, verbose=1,
                                 callbacks=[self.callback],  # one
                                 validation_data=more, validation_steps=2)
        # TODO(codemod TFB502): fit_generator is fit (--unsafe-fixes rewrites it)
        self.model.fit_generator(batches, steps_per_epoch=10, **more)
        self.model.evaluate(batches, steps=10, verbose=1)
        return self.model.predict(batches, verbose=0)
