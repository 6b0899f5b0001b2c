import { pathToFileURL } from 'node:url'
import type { Toolset } from 'toolable'
import { runCli } from 'toolable/testing'
import { sourceOf } from './run-program.ts'

/** How a command line ended that ran in this process. */
export type EndedHere = {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  readonly json: any
}

/**
 * Runs a fixture that exports its toolset by default, without starting a process: for questions
 * that no process is needed for.
 */
export async function runHere(
  name: string,
  args: readonly string[],
  env?: { readonly [name: string]: string },
): Promise<EndedHere> {
  const { default: set } = (await import(pathToFileURL(sourceOf(name)).href)) as {
    readonly default: Toolset
  }
  const { exitCode, stdout, stderr } = await runCli(set, args, { cwd: '/', ...(env && { env }) })
  return {
    status: exitCode,
    stdout,
    stderr,
    get json(): any {
      return JSON.parse(stdout)
    },
  }
}
