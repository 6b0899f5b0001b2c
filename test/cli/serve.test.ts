import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, runProgram } from '../support/run-program.ts'
import { openServed } from '../support/serve-lines.ts'
import { until } from '../mcp/support/until.ts'

describe.concurrent('a program that serves calls by lines', () => {
  test('says who it is, answers calls, resources, prompts and pings, and ends with stdin [6.serve-lines]', async () => {
    const served = openServed('kept-warm.mjs')
    const [call, unknown, refused, resource, prompt] = await Promise.all([
      served.ask({ id: 1, call: 'echo', input: { text: 'añ\n' } }),
      served.ask({ id: 'two', call: 'ecko' }),
      served.ask({ id: 3, call: 'echo', input: { text: 5 } }),
      served.ask({ id: 4, resource: 'notes://moon' }),
      served.ask({ id: 5, prompt: 'greet', input: { name: 'Ann' } }),
    ])
    expect(served.lines[0]).toEqual({ serve: 1, name: 'kept-warm', version: '1.2.3' })
    expect(call).toEqual({
      id: 1,
      type: 'result',
      ok: true,
      status: 'success',
      result: { text: 'añ\n' },
      meta: { tool: 'kept-warm.echo', version: '1.2.3', duration_ms: expect.any(Number) },
    })
    expect(unknown).toMatchObject({
      id: 'two',
      ok: false,
      error: { code: 'NOT_FOUND', message: "there is no tool 'ecko'; did you mean 'echo'?" },
    })
    expect(refused.error).toMatchObject({ code: 'INVALID_INPUT', field: 'text' })
    expect([resource.result, prompt.result]).toEqual([{ text: 'about moon' }, 'Greet Ann'])
    served.send({ ping: 7 })
    expect(await served.heard((line) => line.pong === 7)).toEqual({ pong: 7 })
    expect(await served.end()).toMatchObject({ status: 0, stderr: '' })
  })

  test('options say how a call is made [6.serve-lines]', async () => {
    const folder = makeFolder()
    const served = openServed('kept-warm.mjs', ['--timeout', '50'])
    const told = await served.ask({
      id: 1,
      call: 'where',
      options: { cwd: folder, caller: 'me', timeout: 5, env: { SEEN: 'yes' }, later: 'ignored' },
    })
    expect(told.result).toMatchObject({ asked: folder, caller: 'me', seen: 'yes' })
    expect(told.result.seconds).toBeLessThanOrEqual(5)
    const limited = await served.ask({ id: 2, call: 'where', options: { timeout: 5000 } })
    expect(limited.result.seconds).toBeLessThanOrEqual(50)
    expect(
      (
        await served.ask({
          id: 3,
          call: 'remove',
          input: { what: 'it' },
          options: { dry_run: true },
        })
      ).result,
    ).toEqual({ dry_run: true, would_execute: { what: 'it' } })
    expect(
      (
        await served.ask({
          id: 4,
          call: 'remove',
          input: { what: 'it' },
          options: { confirm: true },
        })
      ).result,
    ).toEqual({ removed: 'it' })
    expect(
      (
        await served.ask({
          id: 5,
          call: 'remove',
          input: { what: 'it' },
          options: { confirm: false },
        })
      ).error.code,
    ).toBe('CONFIRMATION_REQUIRED')
    expect((await served.ask({ id: 6, call: 'where', options: { cwd: 5 } })).error).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'options.cwd',
    })
    await served.end()
  })

  test('two hundred calls at once each get their own events and result [6.serve-no-cross-talk]', async () => {
    const served = openServed('kept-warm.mjs')
    const numbers = Array.from({ length: 200 }, (_, index) => index)
    const answers = await Promise.all(
      numbers.map((index) =>
        served.ask({
          id: index,
          call: 'echo',
          input: { text: `t${index}`, count: index, after: (index * 7) % 40 },
        }),
      ),
    )
    expect(answers.map(({ id, result }) => [id, result])).toEqual(
      numbers.map((index) => [index, { text: `t${index}`, count: index }]),
    )
    expect(
      served.lines
        .filter(({ type }) => type === 'progress')
        .every(({ id, message }) => message === `t${id}`),
    ).toBe(true)
    expect(served.lines).toHaveLength(1 + 2 * numbers.length)
    await served.end()
  })

  test('a line that means nothing is answered with an error, and nothing else changes [6.serve-bad-lines]', async () => {
    const served = openServed('kept-warm.mjs')
    for (const line of [
      '{',
      '[1]',
      'null',
      '{}',
      '{"id":1}',
      '{"id":{},"call":"echo"}',
      '{"ping":"x"}',
      '{"__proto__":{"id":1},"call":"echo"}',
    ])
      served.send(line)
    served.send(new Uint8Array([0x7b, 0xff, 0x7d, 0x0a]))
    served.send(`{"id":1,"call":"echo","input":{"text":"${'x'.repeat(33 * 1024 * 1024)}"}}`)
    await served.heard((line) => line.error?.message.includes('too long'))
    expect(served.lines.slice(1).map(({ type, error: { code } }) => [type, code])).toEqual(
      Array.from({ length: 10 }, () => ['error', 'INVALID_INPUT']),
    )
    expect((await served.ask({ id: 2, call: 5 })).error).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'call',
    })
    served.send({ id: 'nobody', cancel: true })
    served.send({ id: 'nobody', answer: { question: 'x', value: 1 } })
    const slow = served.ask({ id: 3, call: 'echo', input: { text: 'a', after: 100 } })
    served.send({ id: 3, call: 'echo', input: { text: 'b' } })
    expect(
      (await served.heard((line) => line.error?.message.includes('in use'))).id,
    ).toBeUndefined()
    expect((await slow).result).toEqual({ text: 'a' })
    await served.end()
  })

  test('cancelling reaches the handler, and the others are not disturbed [6.serve-cancel]', async () => {
    const marker = join(makeFolder(), 'wait')
    const served = openServed('kept-warm.mjs')
    const waiting = served.ask({ id: 'slow', call: 'wait', input: { marker } })
    const other = served.ask({ id: 'other', call: 'echo', input: { text: 'a', after: 50 } })
    await until(() => existsSync(`${marker}.started`))
    served.send({ id: 'slow', cancel: true })
    expect((await waiting).error.code).toBe('CANCELLED')
    await until(() => existsSync(`${marker}.aborted`))
    expect((await other).result).toEqual({ text: 'a' })
    await served.end()
  })

  test('what handlers print reaches stderr only, and a crash fails its own call [6.serve-stray-output] [6.serve-crash]', async () => {
    const served = openServed('kept-warm.mjs')
    const [printed, timer, rejection, exit, beside] = await Promise.all([
      served.ask({ id: 1, call: 'print' }),
      served.ask({ id: 2, call: 'die', input: { how: 'timer' } }),
      served.ask({ id: 3, call: 'die', input: { how: 'rejection' } }),
      served.ask({ id: 4, call: 'die', input: { how: 'exit' } }),
      served.ask({ id: 5, call: 'echo', input: { text: 'a', after: 60 } }),
    ])
    expect(printed.result).toEqual({ printed: true })
    expect([timer, rejection, exit].map(({ error }) => [error.code, error.message])).toEqual([
      ['INTERNAL', 'the tool left an error unhandled: in a timer'],
      ['INTERNAL', 'the tool left an error unhandled: in a promise'],
      ['INTERNAL', 'the tool called process.exit(3)'],
    ])
    expect(beside.result).toEqual({ text: 'a' })
    const { status, stderr } = await served.end()
    expect(status).toBe(0)
    for (const text of [
      'to the stream',
      'to the descriptor',
      'from a child',
      '"type":"result"',
      'in a timer',
    ])
      expect(stderr).toContain(text)
    expect(served.lines).toHaveLength(1 + 5 + 1)
  })

  test('a result that is too long for a line is an error of its own call [6.serve-bad-lines]', async () => {
    const served = openServed('kept-warm.mjs')
    expect((await served.ask({ id: 1, call: 'big', input: { megabytes: 65 } })).error.code).toBe(
      'OUTPUT_LIMIT',
    )
    expect((await served.ask({ id: 2, call: 'big', input: { megabytes: 3 } })).result).toHaveLength(
      3 * 1024 * 1024,
    )
    await served.end()
  })
})

describe.concurrent('questions of a served call', () => {
  test('are asked by lines and answered by lines, completions and consent too [6.serve-questions]', async () => {
    const served = openServed('talks.mjs')
    const asked = served.ask({ id: 1, call: 'ask' })
    for (const [kind, value] of [
      ['confirm', true],
      ['decision', 'right'],
      ['input', 4],
    ] as const) {
      const { question } = await served.heard(
        (line) => line.type === 'question' && line.question.kind === kind,
      )
      served.send({ id: 1, answer: { question: 'another', value: 'x' } })
      served.send({ id: 1, answer: { question: question.id, value } })
    }
    expect((await asked).result).toEqual({ confirm: true, decision: 'right', input: 4 })
    const both = served.ask({ id: 2, call: 'both' })
    const sample = await served.heard((line) => line.id === 2 && line.question?.kind === 'sample')
    const confirm = await served.heard((line) => line.id === 2 && line.question?.kind === 'confirm')
    expect(sample.question).toMatchObject({ prompt: 'Write', sampling: { max_tokens: 1000 } })
    served.send({ id: 2, answer: { question: sample.question.id, value: 'a poem' } })
    served.send({ id: 2, answer: { question: confirm.question.id, value: false } })
    expect((await both).result).toEqual({ going: false, text: 'a poem' })
    await served.end()
  })

  test('have nobody to answer where the caller says so, or has gone [6.serve-questions]', async () => {
    const served = openServed('talks.mjs')
    const say = async (id: number, answer: object): Promise<void> => {
      const { question } = await served.heard((line) => line.id === id && line.type === 'question')
      served.send({ id, answer: { question: question.id, ...answer } })
    }
    const [nobody, fallback, failed, chat] = [
      served.ask({ id: 1, call: 'ask', input: { only: 'input' } }),
      served.ask({ id: 2, call: 'ask', input: { only: 'confirm', fallback: 'yes' } }),
      served.ask({ id: 3, call: 'complete' }),
      served.ask({ id: 4, call: 'chat' }),
    ]
    await Promise.all([
      say(1, { nobody: true }),
      say(2, { nobody: true }),
      say(3, { error: { code: 'RATE_LIMIT', message: 'too many' } }),
      say(4, { nobody: true }),
    ])
    expect((await nobody).error.code).toBe('ANSWER_REQUIRED')
    expect((await fallback).result).toEqual({ confirm: true })
    expect((await failed).error).toMatchObject({ code: 'RATE_LIMIT', message: 'too many' })
    expect((await chat).error.code).toBe('ANSWER_REQUIRED')
    const left = served.ask({ id: 5, call: 'ask', input: { only: 'decision' } })
    const session = served.ask({ id: 6, call: 'chat' })
    await say(6, { value: { text: 'hi' } })
    await served.heard((line) => line.id === 6 && line.question?.prompt === 'more> ')
    served.program.closeStdin()
    expect((await left).error.code).toBe('ANSWER_REQUIRED')
    expect((await session).result).toEqual({ said: ['hi'] })
    expect((await served.program.ended).status).toBe(0)
  })

  test('consent to a destructive tool is a question [6.serve-questions]', async () => {
    const served = openServed('kept-warm.mjs')
    for (const [id, answer, code] of [
      [1, { value: false }, 'PERMISSION'],
      [2, { nobody: true }, 'CONFIRMATION_REQUIRED'],
      [3, { value: true }, undefined],
    ] as const) {
      const removing = served.ask({ id, call: 'remove', input: { what: 'it' } })
      const { question } = await served.heard((line) => line.id === id && line.type === 'question')
      expect(question).toMatchObject({
        kind: 'confirm',
        prompt: 'remove is destructive. Run it with {"what":"it"}?',
      })
      served.send({ id, answer: { question: question.id, ...answer } })
      expect((await removing).error?.code).toBe(code)
    }
    await served.end()
  })
})

describe.concurrent('the end of serving [6.serve-end]', () => {
  test('what was asked before stdin ended is answered', async () => {
    const { status, lines } = await runProgram('kept-warm.mjs', ['--serve'], {
      input:
        '{"id":1,"call":"echo","input":{"text":"a","after":30}}\n{"id":2,"call":"echo","input":{"text":"b"}}',
    })
    expect(status).toBe(0)
    expect(lines.filter(({ type }) => type === 'result').map(({ id }) => id)).toEqual([2, 1])
  })

  test('SIGTERM cancels what runs, answers, and is a clean end', async () => {
    const marker = join(makeFolder(), 'wait')
    const served = openServed('kept-warm.mjs')
    const waiting = served.ask({ id: 1, call: 'wait', input: { marker } })
    await until(() => existsSync(`${marker}.started`))
    served.program.kill('SIGTERM')
    expect((await waiting).error.code).toBe('CANCELLED')
    expect((await served.program.ended).status).toBe(0)
    expect(readFileSync(`${marker}.aborted`, 'utf8')).toBe('CANCELLED')
  })

  test('a caller that vanishes with both pipes leaves nothing behind', async () => {
    const marker = join(makeFolder(), 'wait')
    const served = openServed('kept-warm.mjs')
    served.send({ id: 1, call: 'wait', input: { marker } })
    await until(() => existsSync(`${marker}.started`))
    served.program.child.stdout.destroy()
    served.program.child.stdin.destroy()
    await served.program.ended
    expect(existsSync(`${marker}.aborted`)).toBe(true)
  })

  test('a program tells that it can serve, unless its only tool has the flag for itself [6.serve-discover]', async () => {
    expect((await runProgram('kept-warm.mjs', ['--discover'])).json.serve).toBe(1)
    expect((await runProgram('kept-warm.mjs', ['echo', '--serve'])).status).toBe(2)
    expect((await runProgram('serves-dinner.mjs', ['--discover'])).json).not.toHaveProperty('serve')
    expect((await runProgram('serves-dinner.mjs', ['--serve', 'soup'])).json).toMatchObject({
      result: { served: 'soup' },
    })
  })
})
