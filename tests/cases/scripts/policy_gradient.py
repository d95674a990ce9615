"""REINFORCE on a corridor: the session acts, remembers, and then trains on what happened."""
import json
import os
import sys

import numpy as np
import tensorflow as tf


class Corridor(object):
    """Seven cells; the agent starts in the middle and wants to be at the right end."""

    length = 7

    def reset(self):
        self.position = self.length // 2
        self.time = 0
        return self.observe()

    def observe(self):
        state = np.zeros(self.length, np.float32)
        state[self.position] = 1.0
        return state

    def step(self, action):
        self.position = max(0, min(self.length - 1, self.position + (1 if action else -1)))
        self.time += 1
        at_goal = self.position == self.length - 1
        done = at_goal or self.time >= 20
        return self.observe(), (1.0 if at_goal else -0.05), done


class Agent(object):

    def __init__(self, states, actions, learning_rate, logdir):
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.states = tf.placeholder(tf.float32, [None, states])
            self.actions = tf.placeholder(tf.int32, [None])
            self.returns = tf.placeholder(tf.float32, [None])
            with tf.variable_scope('policy'):
                w = tf.get_variable('w', [states, actions], initializer=tf.zeros_initializer())
                logits = tf.matmul(self.states, w)
            self.probabilities = tf.nn.softmax(logits)
            log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.actions, logits=logits)
            self.loss = -tf.reduce_mean(log_prob * self.returns)
            self.global_step = tf.train.get_or_create_global_step()
            optimizer = tf.train.AdamOptimizer(learning_rate)
            gradients = optimizer.compute_gradients(self.loss)
            gradients = [(tf.clip_by_norm(g, 1.0), v) for g, v in gradients]
            self.train_op = optimizer.apply_gradients(gradients, global_step=self.global_step)
            self.sess = tf.train.MonitoredTrainingSession(
                checkpoint_dir=logdir, save_summaries_steps=None, save_summaries_secs=None)

    def act(self, state, rng):
        probabilities = self.sess.run(self.probabilities, feed_dict={self.states: state[np.newaxis]})
        return int(rng.rand() < probabilities[0, 1])

    def learn(self, states, actions, returns):
        feed_dict = {self.states: states, self.actions: actions, self.returns: returns}
        _, loss, step = self.sess.run([self.train_op, self.loss, self.global_step], feed_dict)
        return loss, step

    def close(self):
        self.sess.close()


def discount(rewards, gamma):
    total, out = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        out.append(total)
    return np.array(out[::-1], np.float32)


def main():
    work_dir = sys.argv[1]
    env, rng = Corridor(), np.random.RandomState(5)
    agent = Agent(Corridor.length, 2, 0.1, os.path.join(work_dir, 'agent'))
    episode_lengths = []
    try:
        for episode in range(25):
            state, done = env.reset(), False
            states, actions, rewards = [], [], []
            while not done:
                action = agent.act(state, rng)
                states.append(state)
                actions.append(action)
                state, reward, done = env.step(action)
                rewards.append(reward)
            loss, _ = agent.learn(np.stack(states), actions, discount(rewards, 0.9))
            episode_lengths.append(len(rewards))
    finally:
        agent.close()
    print('mean length of the last episodes:', np.mean(episode_lengths[-5:]))
    print(json.dumps({'step': len(episode_lengths), 'loss': float(loss), 'lengths': episode_lengths}))


if __name__ == '__main__':
    main()
