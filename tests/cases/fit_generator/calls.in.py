from keras.models import Model


class Trainer(object):
    def train(self, batches, more):
        self.model.fit_generator(
            generator=batches,
            samples_per_epoch=1000,
            nb_epoch=2)
        self.model.fit_generator(batches, 10, 2, 1,
                                 [self.callback],  # one
                                 workers=4,
                                 validation_data=more, validation_steps=2)
        self.model.fit_generator(batches, steps_per_epoch=10, **more)
        self.model.evaluate_generator(batches, 10, workers=2, verbose=1)
        return self.model.predict_generator(batches)
