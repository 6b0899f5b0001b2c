import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { fixture, launch, makeFolder } from '../../support/run-program.ts'
import type { Running } from '../../support/run-program.ts'

const bundled = new Map<string, string>()

/**
 * Starts a fixture of test/fixtures/workflow, behind other programs where they are named. It is
 * bundled with the sources that it uses, because it is started often.
 */
export function startWorkflowProgram(
  name: string,
  args: readonly string[],
  {
    behind = [],
    env = {},
  }: {
    readonly behind?: readonly string[]
    readonly env?: { readonly [name: string]: string }
  } = {},
): Running {
  if (!bundled.has(name)) {
    const outfile = join(makeFolder(), name)
    buildSync({
      entryPoints: [fixture(`workflow/${name}`)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    })
    bundled.set(name, outfile)
  }
  const [command, ...rest] = [...behind, process.execPath, bundled.get(name)!, ...args]
  // One thread does what touches files, so that whoever counts calls counts all of them.
  return launch(command!, rest, { env: { UV_THREADPOOL_SIZE: '1', ...env } })
}
