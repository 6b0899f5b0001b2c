import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Interaction } from '../../src/protocol/events.ts'
import type { ChildCall } from '../../src/registry/child/child-call.ts'
import { callChild, errorOf, foreign, hostEnv, resultOf } from '../support/call-child.ts'

const folder = mkdtempSync(join(tmpdir(), 'child-protocol-'))
afterAll(() => rmSync(folder, { recursive: true }))

const call: ChildCall = {
  form: 'protocol',
  command: ['python3', foreign('speaks-the-protocol.py')],
  exitCodes: { ok: 0, retryable_error: 20, fatal_error: 30 },
}
const doing = (what: string, value?: string) => ({
  do: what,
  ...(value !== undefined && { value }),
})

describe('a tool of the run protocol [6.child-protocol]', () => {
  test('tells what it does, gives its result once, and leaves no workspace behind', async () => {
    const { outcome, events } = await callChild(call, doing('work', '-5'), {
      options: { env: hostEnv, timeout: 60 },
    })
    expect(outcome).toMatchObject({
      ok: true,
      result: { value: '-5', missing: [] },
      meta: { artifacts: [{ name: 'out', uri: '/somewhere/out.txt' }] },
    })
    expect(events).toEqual([
      { type: 'progress', message: 'on the way', percent: 40 },
      { type: 'log', level: 'debug', message: 'not a line of the protocol' },
      { type: 'log', level: 'info', message: 'looked around' },
      { type: 'item', value: { n: 1 } },
      { type: 'artifact', name: 'out', uri: '/somewhere/out.txt' },
      {
        type: 'log',
        level: 'warn',
        message: expect.stringContaining('the tool goes on after its end') as string,
      },
    ])
    const { workspace } = (outcome as { result: { workspace: string } }).result
    expect(dirname(dirname(workspace))).toBe(tmpdir())
    expect(existsSync(dirname(workspace))).toBe(false)
  })

  test('asks, and gets each answer as a line on stdin', async () => {
    const asked: Interaction[] = []
    const answers: { readonly [kind: string]: unknown } = {
      confirm: true,
      decision: 'b',
      input: { strategy: 'fast' },
    }
    const answered = resultOf(
      await callChild(call, doing('questions'), {
        options: {
          env: hostEnv,
          answer: (question) => {
            asked.push(question)
            return answers[question.kind]
          },
          sample: ({ prompt, max_tokens }) => `${prompt} a time, ${max_tokens}`,
        },
      }),
    )
    expect(answered).toEqual([
      { id: 'q1', value: true },
      { id: 'q2', value: 'b' },
      { type: 'sample_response', id: 'q3', content: 'Once upon a time, 5' },
      { strategy: 'fast' },
    ])
    expect(asked.map(({ kind, prompt }) => [kind, prompt])).toEqual([
      ['confirm', 'Sure?'],
      ['decision', 'Which?'],
      ['input', 'choose_strategy {"files":3}'],
    ])
  })

  test('fails in words where nobody can answer, unless it goes on without an answer', async () => {
    expect(errorOf(await callChild(call, doing('unanswered')))).toMatchObject({
      code: 'ANSWER_REQUIRED',
      message: "tool 'child' asks 'Name?' and nobody can answer",
    })
    expect(resultOf(await callChild(call, doing('goes-on')))).toBe('went on')
  })

  test.each([
    [
      'error',
      {
        code: 'RATE_LIMIT',
        message: 'slow down',
        retryable: true,
        suggestion: { fix: 'Wait a minute' },
        details: { exit_status: 20 },
      },
    ],
    ['own-error', { code: 'E_MY_THING', message: 'mine', retryable: true }],
    ['silent', { code: 'INTERNAL', message: 'the tool ended without an answer' }],
    ['retry-later', { code: 'DEPENDENCY', retryable: true, details: { exit_status: 20 } }],
    ['result-then-fatal', { code: 'INTERNAL', retryable: false, details: { exit_status: 30 } }],
  ])('that ends by %s has failed', async (what, expected) => {
    expect(errorOf(await callChild(call, doing(what)))).toMatchObject(expected)
  })

  test('that gave its result keeps it, though its exit status is one that nobody knows', async () => {
    const called = await callChild(call, doing('result-then-odd'))
    expect(resultOf(called)).toBe(1)
    expect(called.events).toContainEqual({
      type: 'log',
      level: 'warn',
      message: 'the tool gave a result, and then ended with exit status 5',
    })
  })

  test('is told of a cancellation by the cancel file, and leaves nothing behind', async () => {
    const controller = new AbortController()
    const running = new Set<Promise<unknown>>()
    const proof = join(folder, 'proof')
    let workspace = ''
    const calling = callChild(call, doing('wait', proof), {
      services: { running },
      options: { env: hostEnv, signal: controller.signal },
      heard: (event) => {
        if (event.type !== 'progress') return
        workspace = event.message
        controller.abort()
      },
    })
    expect(errorOf(await calling).code).toBe('CANCELLED')
    await Promise.all(running)
    expect(readFileSync(proof, 'utf8')).toBe('saw the cancel file')
    expect(workspace).toContain('toolable-run-')
    expect(existsSync(dirname(workspace))).toBe(false)
  })
})
