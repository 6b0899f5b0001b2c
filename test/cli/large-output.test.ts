import { describe, expect, test } from 'vitest'
import { runShell, startProgram } from '../support/run-program.ts'

const FIVE_MB = 5_000_000

describe('large output', () => {
  test('5 MB arrive whole through a pipe, also at a reader that is slow to start [5.whole-output]', async () => {
    const program = startProgram('takes-its-time.mjs', ['big', '--bytes', String(FIVE_MB)])
    program.child.stdout.pause()
    await new Promise((resolve) => setTimeout(resolve, 700))
    program.child.stdout.resume()
    const { status, json, stderr } = await program.ended
    expect([status, stderr]).toEqual([0, ''])
    expect(json.result).toHaveLength(FIVE_MB / 1000)
    expect(json.result.at(-1)).toMatch(/^4999:é{500}$/)
  })

  test('a handler that talks without a pause is heard whole and in order, on stdout and on stderr [5.whole-output] [5.stream-flag]', async () => {
    const times = 20_000
    const wanted = Array.from({ length: times }, (_, index) => `line ${index}`)
    const stream = startProgram('takes-its-time.mjs', [
      'chatter',
      '--times',
      String(times),
      '--stream',
    ])
    stream.child.stdout.pause()
    await new Promise((resolve) => setTimeout(resolve, 500))
    stream.child.stdout.resume()
    const streamed = await stream.ended
    expect(streamed.lines.slice(0, -1).map(({ message }) => message)).toEqual(wanted)
    expect(streamed.lines.at(-1)).toMatchObject({ type: 'result', ok: true, result: { times } })
    const noted = await startProgram('takes-its-time.mjs', ['chatter', '--times', String(times)])
      .ended
    expect(noted.json.result).toEqual({ times })
    expect(
      noted.stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).message),
    ).toEqual(wanted)
  })

  test.each(['json', 'jsonl', 'yaml', 'text', 'csv'])(
    '1 MB in %s through a real pipe [5.whole-output]',
    async (mode) => {
      const { stdout, stderr } = await runShell(
        'takes-its-time.mjs',
        `$PROG big --bytes 1000000 -o ${mode} | (sleep 0.2; cat) | tail -c 5000; echo "status \${PIPESTATUS[0]}"`,
      )
      expect(stdout).toContain('999:é')
      expect(stdout).toContain('status 0')
      expect(stderr).toBe('')
    },
  )

  test.each([
    'big --bytes 5000000',
    'big --bytes 100',
    'big --bytes 5000000 -o text',
    'flood --stream',
    '--discover',
    '--help',
  ])('a closed pipe ends %s quietly [5.closed-pipe]', async (args) => {
    const { status, stdout, stderr } = await runShell(
      'takes-its-time.mjs',
      `$PROG ${args} | head -c 10`,
    )
    expect([status, Buffer.byteLength(stdout), stderr]).toEqual([0, 10, ''])
  })

  test('a full device is a clear failure [5.closed-pipe]', async () => {
    const [small, large] = await Promise.all(
      [10, 1_000_000].map((bytes) =>
        runShell('takes-its-time.mjs', `$PROG big --bytes ${bytes} >/dev/full`),
      ),
    )
    for (const { status, stderr } of [small!, large!]) {
      expect(status).toBe(73)
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'DISK_FULL' } })
    }
  })

  test('closed streams are no crash [5.never-hang] [5.closed-pipe]', async () => {
    const [stdin, stdout, stderr, all] = await Promise.all([
      runShell('workbench.mjs', '$PROG register <&-'),
      runShell('workbench.mjs', '$PROG scalar >&-'),
      runShell('workbench.mjs', '$PROG broken --code E_X 2>&-'),
      runShell('workbench.mjs', '$PROG scalar <&- >&- 2>&-'),
    ])
    expect([stdin.status, stdin.json.error.code]).toEqual([2, 'MISSING_PARAM'])
    expect([stdout.status, stdout.stderr]).toEqual([0, ''])
    expect([stderr.status, stderr.json.error.code]).toEqual([1, 'E_X'])
    expect(all.status).toBe(0)
  })
})
