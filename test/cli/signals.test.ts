import { describe, expect, test } from 'vitest'
import { runShell, startProgram } from '../support/run-program.ts'

const EXIT = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

describe('signals', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s aborts the handler, answers once and exits [5.signals]',
    async (signal) => {
      const program = startProgram('takes-its-time.mjs', ['wait'])
      await program.said('waiting', 'stderr')
      program.kill(signal)
      const { status, json, stderr } = await program.ended
      expect(json).toMatchObject({
        ok: false,
        error: { code: 'CANCELLED', retryable: false, message: expect.stringContaining(signal) },
      })
      expect(stderr).toContain('ABORTED')
      expect(status).toBe(EXIT[signal])
    },
  )

  test('a handler that does not listen is left behind [5.signals]', async () => {
    const program = startProgram('takes-its-time.mjs', ['wait', '--deaf'])
    await program.said('waiting', 'stderr')
    program.kill('SIGTERM')
    const { status, json } = await program.ended
    expect([status, json.error.code]).toEqual([143, 'CANCELLED'])
  })

  test('a stream ends in a result line, the run protocol in its own last line [5.signals] [5.stream-flag]', async () => {
    const stream = startProgram('takes-its-time.mjs', ['wait', '--stream'])
    const protocol = startProgram('takes-its-time.mjs', ['wait', '--dialect', 'acor'])
    await Promise.all([stream.said('waiting'), protocol.said('waiting')])
    stream.kill('SIGINT')
    protocol.kill('SIGTERM')
    const [ended, cancelled] = await Promise.all([stream.ended, protocol.ended])
    expect(ended.status).toBe(130)
    expect(ended.lines.at(-1)).toMatchObject({
      type: 'result',
      ok: false,
      error: { code: 'CANCELLED' },
    })
    expect(cancelled.status).toBe(143)
    expect(cancelled.lines.at(-1)).toMatchObject({
      v: 1,
      type: 'cancelled',
      reason: expect.any(String),
    })
  })

  test.each(['', '{"text":'])(
    'while the rest of stdin is waited for, behind %j [5.signals] [5.stdin-dash]',
    async (half) => {
      const program = startProgram('workbench.mjs', ['echo', '-'], {
        input: 'open',
        nodeArgs: [
          '--import',
          'data:text/javascript,setInterval(() => process.listenerCount("SIGTERM") && process.stderr.write("LISTENING"), 20).unref()',
        ],
      })
      program.write(half)
      await program.said('LISTENING', 'stderr')
      // Long enough for the first half to be read; nothing tells when.
      await new Promise((resolve) => setTimeout(resolve, 200))
      program.kill('SIGTERM')
      const { status, json } = await program.ended
      expect([status, json.error.code]).toEqual([143, 'CANCELLED'])
    },
  )

  test('while nobody takes the output: it ends by the signal, a second one ends it at once [5.signals] [5.never-hang]', async () => {
    const stuck = async (kill: string) =>
      runShell(
        'takes-its-time.mjs',
        `
      mkfifo stuck-$$; exec 3<>stuck-$$; rm stuck-$$
      $PROG big --bytes 5000000 >&3 2>/dev/null & pid=$!
      head -c 1 <&3 >/dev/null
      ${kill}
      wait $pid; echo "status $?"
    `,
      )
    const [once, twice] = await Promise.all([
      stuck('kill -TERM $pid'),
      stuck('kill -TERM $pid; sleep 0.2; kill -TERM $pid'),
    ])
    expect(once.stdout).toBe('status 143\n')
    expect(twice.stdout).toBe('status 143\n')
  })
})
