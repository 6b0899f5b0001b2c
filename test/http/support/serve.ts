import { AS_LONG_AS_ITS_FILE, startProgram } from '../../support/run-program.ts'
import type { Ended, Running, RunOptions } from '../../support/run-program.ts'

/** A fixture that serves over HTTP as a process of its own. */
export type Served = {
  readonly url: string
  readonly port: number
  readonly program: Running
  /** Asks it to stop and gives how it ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** Starts `serve http` on a free port and waits until it says that it listens. */
export async function serveProgram(
  args: readonly string[] = [],
  options: RunOptions = {},
  fixture = 'serves.mjs',
): Promise<Served> {
  const program = startProgram(fixture, ['serve', 'http', '--port', '0', ...args], {
    longest: AS_LONG_AS_ITS_FILE,
    ...options,
  })
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    program.child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const line = said
        .split('\n')
        .find((each) => each.includes('"listening"') || each.includes('listens on'))
      const found = line === undefined ? undefined : /https?:\/\/[^\s"]+/.exec(line)?.[0]
      if (found !== undefined) resolve(found)
    })
    program.ended.then(
      (end) => reject(new Error(`exit ${end.status}\n${end.stdout}${end.stderr}`)),
      reject,
    )
  })
  return {
    url,
    port: Number(new URL(url).port),
    program,
    stop(signal = 'SIGTERM') {
      program.kill(signal)
      return program.ended
    },
  }
}
