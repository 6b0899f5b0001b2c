import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { runProgram, startProgram } from '../support/run-program.ts'

const talk = (args: string[], input?: string) =>
  runProgram('talks.mjs', args, input === undefined ? {} : { input })

describe.concurrent('streams', () => {
  test('--stream prints the events of the tool and ends in the result line [5.stream-flag] [3.run-generator-streaming]', async () => {
    const { status, lines, stderr } = await talk(['work', '--stream'])
    expect(lines.slice(0, -1)).toEqual([
      { type: 'progress', message: 'step 1', percent: 25 },
      { type: 'progress', message: 'step 2', percent: 50 },
      { type: 'progress', message: 'step 3', percent: 75 },
      { type: 'log', level: 'warn', message: 'nearly there' },
      { type: 'artifact', name: 'report', uri: 'file:///tmp/report.txt' },
      { type: 'item', value: { id: 1 } },
    ])
    expect(lines.at(-1)).toMatchObject({
      type: 'result',
      ok: true,
      status: 'success',
      result: { steps: 3 },
    })
    expect([status, stderr]).toEqual([0, ''])
  })

  test('without --stream the same tool gives one document and notifications [5.one-document] [5.notifications]', async () => {
    const { status, json, stderr } = await talk(['work'])
    expect([status, json.result]).toEqual([0, { steps: 3 }])
    expect(
      stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).kind),
    ).toEqual(['progress', 'progress', 'progress', 'log', 'artifact'])
  })

  test('a failure in the middle ends in an error result line and a non-zero exit [5.stream-flag] [12.errors-exit-non-zero]', async () => {
    const { status, lines, stderr } = await talk(['work', '--stream', '--fail-at', '2'])
    expect(lines).toHaveLength(3)
    expect(lines.at(-1)).toMatchObject({
      type: 'result',
      ok: false,
      status: 'error',
      error: { code: 'E_HALF_WAY' },
    })
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'E_HALF_WAY' } })
    expect(status).toBe(1)
  })

  test('failures before the tool runs and odd events are result lines too [5.stream-flag]', async () => {
    const [usage, odd, plain] = await Promise.all([
      talk(['work', '--stream', '--nosuch']),
      talk(['yields-odd', '--stream']),
      talk(['complete', '--times', '0', '--stream']),
    ])
    expect([usage.status, usage.lines]).toMatchObject([
      2,
      [{ type: 'result', ok: false, error: { code: 'USAGE' } }],
    ])
    expect([odd.status, odd.lines]).toMatchObject([
      1,
      [{ type: 'result', ok: false, error: { code: 'INTERNAL' } }],
    ])
    expect([plain.status, plain.lines]).toMatchObject([
      0,
      [{ type: 'result', ok: true, result: { texts: [] } }],
    ])
  })
})

describe.concurrent('sessions', () => {
  test('start, several answers, quit [5.session-flag] [3.run-generator-session]', async () => {
    const program = startProgram('talks.mjs', ['chat', '--session'], { input: 'open' })
    await program.said('"session_start"')
    program.write('{"text":"one"}\n')
    await program.said('"awaiting_input"')
    program.write('{"text":"two"}\r\n\n{"n":3}\n{"action":"quit"}\n')
    const { status, lines } = await program.ended
    expect(lines.slice(0, -1)).toEqual([
      { type: 'session_start', message: 'Welcome', prompt: 'you> ' },
      { type: 'awaiting_input', prompt: 'more> ' },
      { type: 'awaiting_input', prompt: 'more> ' },
      { type: 'awaiting_input', prompt: 'more> ' },
      { type: 'session_end', status: 'success' },
    ])
    expect(lines.at(-1)).toMatchObject({
      ok: true,
      status: 'success',
      result: { said: ['one', 'two', { n: 3 }] },
    })
    expect(status).toBe(0)
  })

  test('a last line without newline counts, invalid UTF-8 spoils only its line [5.session-flag]', async () => {
    const { status, lines } = await runProgram('talks.mjs', ['chat', '--session'], {
      input: Buffer.concat([Buffer.from([0xff, 0x0a]), Buffer.from('{"text":"é"}')]),
    })
    expect(lines.at(-1).result).toEqual({ said: ['é'] })
    expect(status).toBe(0)
  })

  test('a session that fails says so and exits non-zero [5.session-flag] [12.errors-exit-non-zero]', async () => {
    const { status, lines } = await talk(['crashing', '--session'], '{"a":1}\n{"a":2}\n')
    expect(lines.at(-1)).toMatchObject({
      ok: false,
      error: { code: 'INTERNAL', message: 'lost the thread' },
    })
    expect(status).toBe(1)
  })

  test('with nobody to answer it is ANSWER_REQUIRED and names the command that goes on [5.answer-required] [5.never-hang]', async () => {
    const [session, question, wording] = await Promise.all([
      talk(['chat']),
      talk(['ask'], ''),
      talk(['ask', '--prompt', 'Install completion?']),
    ])
    for (const [ended, example] of [
      [session, 'talks chat --session'],
      [question, 'talks ask --session'],
      [wording, "talks ask --prompt 'Install completion?' --session"],
    ] as const) {
      expect([ended.status, ended.json.error.code, ended.json.error.recoverable]).toEqual([
        77,
        'ANSWER_REQUIRED',
        true,
      ])
      expect(ended.json.error.suggestion.example).toBe(example)
    }
  })

  test('stdin cannot be input and dialogue at once [5.stdin-one-owner]', async () => {
    const [session, sampling, used] = await Promise.all([
      talk(['ask', '-', '--session'], '{}'),
      talk(['complete', '-', '--sample-via', 'stdin'], '{}'),
      talk(['complete', '-'], '{"times":1}'),
    ])
    for (const { status, json } of [session, sampling])
      expect([status, json.error.code]).toEqual([2, 'USAGE'])
    expect([used.status, used.lines.at(-1).error]).toMatchObject([
      77,
      {
        code: 'ANSWER_REQUIRED',
        suggestion: { example: expect.stringMatching(/^talks complete .*--sample-via stdin$/) },
      },
    ])
  })
})

describe.concurrent('questions by JSON lines', () => {
  test('every kind is asked, and wrong answers are asked again with the reason [3.context-ask] [5.session-flag]', async () => {
    const program = startProgram('talks.mjs', ['ask', '--session'], { input: 'open' })
    await program.said('Go on?')
    program.write('{"value":"yes"}\n')
    await program.said('must be true or false')
    program.write('{"answer":true}\n')
    await program.said('Which way?')
    program.write('{"value":"up"}\n')
    await program.said('must be one of left, right')
    program.write('{"value":"right"}\n')
    await program.said('How many?')
    program.write('{"id":"00000000","value":9}\nnonsense\n{"value":0}\n{"value":2}\n')
    const { status, lines } = await program.ended
    expect(lines.at(-1)).toMatchObject({
      ok: true,
      result: { confirm: true, decision: 'right', input: 2 },
    })
    const questions = lines.filter(({ type }) => type === 'action_required')
    expect(questions[0]).toMatchObject({
      id: expect.any(String),
      kind: 'confirm',
      prompt: 'Go on?',
    })
    expect(questions[2]).toMatchObject({
      kind: 'decision',
      options: [{ value: 'left' }, { value: 'right', label: 'To the right' }],
    })
    expect(questions[4]).toMatchObject({ kind: 'input', schema: { type: 'integer', minimum: 1 } })
    expect(status).toBe(0)
  })

  test('an answer that never fits ends in INVALID_INPUT [3.context-ask]', async () => {
    const { status, lines } = await talk(
      ['ask', '--session', '--only', 'confirm'],
      '{"value":1}\n'.repeat(20),
    )
    expect(lines.at(-1).error.code).toBe('INVALID_INPUT')
    expect(status).not.toBe(0)
  })

  test('without an answer the default counts, by nobody, by the end of stdin and by time [3.context-ask-default-timeout]', async () => {
    const late = startProgram(
      'talks.mjs',
      ['ask', '--session', '--fallback', 'yes', '--timeout-s', '0.05'],
      { input: 'open' },
    )
    const [nobody, end, time] = await Promise.all([
      talk(['ask', '--fallback', 'yes']),
      talk(['ask', '--fallback', 'yes', '--session'], ''),
      late.ended,
    ])
    for (const { status, lines } of [nobody, end, time])
      expect([status, lines.at(-1).result]).toEqual([
        0,
        { confirm: true, decision: 'left', input: 3 },
      ])
  })

  test('without a default the time ends in ANSWER_REQUIRED [3.context-ask-default-timeout] [5.answer-required]', async () => {
    const { status, lines } = await startProgram(
      'talks.mjs',
      ['ask', '--session', '--timeout-s', '0.05'],
      { input: 'open' },
    ).ended
    expect([status, lines.at(-1).error.code]).toEqual([77, 'ANSWER_REQUIRED'])
  })

  test('a destructive call is confirmed by a line [4.destructive-needs-confirmation]', async () => {
    const [yes, no, ...nobody] = await Promise.all(
      ['{"value":true}', '{"value":false}', '{"value":"yes"}', ''].map((line) =>
        runProgram('workbench.mjs', ['remove', 'x', '--session'], { input: `${line}\n` }),
      ),
    )
    expect([yes!.status, yes!.lines.at(-1).result]).toEqual([0, { removed: 'x' }])
    expect(yes!.lines[0]).toMatchObject({ type: 'action_required', kind: 'confirm' })
    expect([no!.status, no!.lines.at(-1).error]).toMatchObject([
      77,
      { code: 'PERMISSION', recoverable: false, suggestion: { action: 'abort' } },
    ])
    expect(no!.lines.at(-1).error.suggestion).not.toHaveProperty('example')
    for (const { status, lines } of nobody)
      expect([status, lines.at(-1).error]).toMatchObject([
        77,
        { code: 'CONFIRMATION_REQUIRED', suggestion: { example: 'workbench remove x --yes' } },
      ])
  })
})

describe.concurrent('completions by stdin', () => {
  test.each([[[]], [['--sample-via', 'stdin']]])(
    'asked and answered in lines %j, foreign lines and wrong ids left alone [5.sample-via] [3.context-sample]',
    async (via) => {
      const program = startProgram('talks.mjs', ['complete', '--times', '2', ...via], {
        input: 'open',
      })
      const nextRequest = async (index: number) => {
        await program.said(`"Write ${index}"`)
        return program
      }
      const requests: any[] = []
      program.child.stdout.on('data', (chunk: Buffer) =>
        requests.push(
          ...String(chunk)
            .split('\n')
            .filter((line) => line.includes('sample_request'))
            .map((line) => JSON.parse(line)),
        ),
      )
      for (const index of [0, 1]) {
        await nextRequest(index)
        const { id } = requests[index]
        program.write(
          `{"type":"sample_response","id":"wrong","content":"no"}\nnot json\n{"other":true}\n{"type":"sample_response","id":"${id}","content":"text ${index}"}\n`,
        )
      }
      const { status, lines } = await program.ended
      expect(requests[0]).toEqual({
        type: 'sample_request',
        id: expect.stringMatching(/^.{8}$/),
        prompt: 'Write 0',
        max_tokens: 5,
        system: 'Be short',
        temperature: 0.5,
        stop_sequences: ['\n'],
      })
      expect([status, lines.at(-1).result]).toEqual([0, { texts: ['text 0', 'text 1'] }])
    },
  )

  test('questions and completions at once each get their own answer [5.sample-via] [5.stdin-one-owner]', async () => {
    const program = startProgram('talks.mjs', ['both', '--session'], { input: 'open' })
    await program.said('Go on?')
    program.write('{"type":"sample_response","id":"early","content":"x"}\n{"value":true}\n')
    await program.said('sample_request')
    program.closeStdin()
    const { status, lines } = await program.ended
    expect([status, lines.at(-1).error.code]).toEqual([77, 'ANSWER_REQUIRED'])
  })

  test('an error reply, the end of stdin and silence are failures of their own [5.sample-via]', async () => {
    const failing = startProgram('talks.mjs', ['complete'], { input: 'open' })
    await failing.said('sample_request')
    failing.child.stdout.once('data', () => undefined)
    const silent = startProgram('talks.mjs', ['complete', '--timeout-s', '0.1'], { input: 'open' })
    const ended = runProgram('talks.mjs', ['complete'], { input: '' })
    const [late, end] = await Promise.all([silent.ended, ended])
    failing.closeStdin()
    await failing.ended
    expect([late.status, late.lines.at(-1).error.code]).toEqual([124, 'TIMEOUT'])
    expect([end.status, end.lines.at(-1).error.code]).toEqual([77, 'ANSWER_REQUIRED'])
  })

  test('an error reply is a failed completion [5.sample-via]', async () => {
    const program = startProgram('talks.mjs', ['complete'], { input: 'open' })
    const line = await new Promise<string>((resolve) =>
      program.child.stdout.once('data', (chunk: Buffer) => resolve(String(chunk))),
    )
    program.write(
      `{"type":"sample_response","id":"${JSON.parse(line).id}","error":{"message":"no credit"}}\n`,
    )
    const { status, lines } = await program.ended
    expect([status, lines.at(-1).error]).toMatchObject([
      69,
      { code: 'DEPENDENCY', retryable: true, message: expect.stringContaining('no credit') },
    ])
  })
})

describe.concurrent('completions by HTTP', () => {
  const served = async (answer: RequestListener, args: string[] = []) => {
    const server = createServer(answer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      return await talk([
        'complete',
        '--sample-via',
        `http://127.0.0.1:${(server.address() as AddressInfo).port}/sample`,
        ...args,
      ])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  test('the request is posted and the content is the text [5.sample-via]', async () => {
    let body = ''
    const { status, json } = await served((request, response) => {
      request
        .on('data', (chunk: Buffer) => {
          body += String(chunk)
        })
        .on('end', () => response.end(JSON.stringify({ content: 'by http' })))
    })
    expect([status, json.result]).toEqual([0, { texts: ['by http'] }])
    expect(JSON.parse(body)).toMatchObject({
      type: 'sample_request',
      prompt: 'Write 0',
      max_tokens: 5,
      system: 'Be short',
    })
  })

  test.each<[string, RequestListener, number, string]>([
    ['500', (_request, response) => response.writeHead(500).end('broken'), 69, 'DEPENDENCY'],
    ['429', (_request, response) => response.writeHead(429).end(), 75, 'RATE_LIMIT'],
    ['garbage', (_request, response) => response.end('<html>'), 69, 'DEPENDENCY'],
    ['no content', (_request, response) => response.end('{"text":"x"}'), 69, 'DEPENDENCY'],
    ['an error', (_request, response) => response.end('{"error":"no credit"}'), 69, 'DEPENDENCY'],
    ['a cut connection', (request) => request.socket.destroy(), 69, 'DEPENDENCY'],
  ])('%s is a failure [5.sample-via]', async (_name, answer, exit, code) => {
    const { status, json } = await served(answer)
    expect([status, json.error.code, json.error.retryable]).toEqual([exit, code, true])
  })

  test('a slow server ends on time, a missing one at once [5.sample-via] [5.never-hang]', async () => {
    const slow = await served(() => undefined, ['--timeout-s', '0.2'])
    const missing = await talk(['complete', '--sample-via', 'http://127.0.0.1:1/sample'])
    expect([slow.status, slow.json.error.code]).toEqual([124, 'TIMEOUT'])
    expect([missing.status, missing.json.error.code]).toEqual([69, 'DEPENDENCY'])
  })
})
