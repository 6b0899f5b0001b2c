import { expect, test } from 'vitest'
import { startAttemptClock } from '../../src/runner/attempt-clock.ts'
import { createQuestionBroker } from '../../src/runner/questions.ts'
import type { AnswerChannel, RunQuestion } from '../../src/runner/questions.ts'

const QUESTION: RunQuestion = {
  id: 'q1',
  action: 'choose',
  kind: 'decision',
  prompt: 'Which way?',
  options: [{ value: 'left' }, { value: 'right' }],
}

const silent: AnswerChannel = {
  name: 'silent',
  answer: (_question, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined))
    }),
}
const gone: AnswerChannel = { name: 'gone', answer: async () => undefined }
const broken: AnswerChannel = {
  name: 'broken',
  answer: async () => {
    throw new Error('no')
  },
}

function says(name: string, ...values: readonly unknown[]): AnswerChannel {
  const left = [...values]
  return { name, answer: async () => (left.length === 0 ? undefined : { value: left.shift() }) }
}

function ask(
  channels: readonly AnswerChannel[],
  more: Partial<RunQuestion> = {},
  onRefused?: (by: string, problem: string) => void,
) {
  return createQuestionBroker({
    channels,
    defaultTimeoutSeconds: 60,
    getResumeCommand: ({ action }) => `toolable resume r-1 --answer ${action}=left`,
  }).ask({ ...QUESTION, ...more }, new AbortController().signal, onRefused)
}

test('the first answer that fits wins, and what does not fit is told [7.question-time]', async () => {
  const refused: string[] = []
  expect(
    await ask([silent, broken, gone, says('agent', 'up', 7, 'right', 'left')], {}, (by, problem) =>
      refused.push(`${by} ${problem}`),
    ),
  ).toEqual({ value: 'right', by: 'agent' })
  expect(refused).toEqual(['agent must be one of left, right', 'agent must be one of left, right'])
})

test('after its own time, or where nobody is there, the default is the answer, or the command that goes on is named [7.question-time]', async () => {
  expect(await ask([silent], { timeout: 0.01, default: 'left' })).toEqual({
    value: 'left',
    by: 'default',
  })
  expect(await ask([gone], { default: 'left' })).toEqual({ value: 'left', by: 'default' })
  await expect(ask([silent], { timeout: 0.01 })).rejects.toMatchObject({
    code: 'ANSWER_REQUIRED',
    message: expect.stringContaining('within 0.01 seconds'),
    suggestion: { example: 'toolable resume r-1 --answer choose=left' },
  })
  await expect(ask([gone, broken])).rejects.toMatchObject({
    code: 'ANSWER_REQUIRED',
    message: expect.stringContaining('nobody is there'),
  })
})

test('nobody waits for one who is only heard, and he is heard while somebody else may answer [7.question-time]', async () => {
  await expect(ask([{ ...silent, passive: true }, gone])).rejects.toMatchObject({
    code: 'ANSWER_REQUIRED',
  })
  expect(await ask([{ ...says('file', 'left'), passive: true }, silent])).toEqual({
    value: 'left',
    by: 'file',
  })
})

test('questions reach those who answer in the order in which they were asked, also when it takes longer to see that nobody knew the answer to the first', async () => {
  const heard: string[] = []
  const slowToKnow: AnswerChannel = {
    name: 'kept',
    answer: ({ id }) =>
      new Promise((resolve) => {
        setTimeout(() => resolve(undefined), id === 'q1' ? 40 : 0)
      }),
  }
  const broker = createQuestionBroker({
    presets: [slowToKnow],
    channels: [{ name: 'agent', answer: async ({ id }) => (heard.push(id), { value: 'left' }) }],
    defaultTimeoutSeconds: 60,
    getResumeCommand: () => '',
  })
  const { signal } = new AbortController()
  await Promise.all(['q1', 'q2', 'q3'].map((id) => broker.ask({ ...QUESTION, id }, signal)))
  expect(heard).toEqual(['q1', 'q2', 'q3'])
})

test('neither limit of a run goes on while it waits, and what was left does afterwards [7.clock-stands]', async () => {
  const fired: string[] = []
  const clock = startAttemptClock({
    deadline: 0.05,
    grace: 0.02,
    onDeadline: () => fired.push('deadline'),
    onSilence: () => fired.push('silence'),
  })
  clock.requireHeartbeats()
  clock.pause()
  await new Promise((resolve) => {
    setTimeout(resolve, 150)
  })
  expect(fired).toEqual([])
  clock.resume()
  await expect.poll(() => [...fired].sort()).toEqual(['deadline', 'silence'])
  clock.stop()
})
