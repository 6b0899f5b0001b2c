import { resolve } from 'node:path'
import { toMilliseconds } from '../../contract/duration.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { RunOptions } from '../../runner/make-request.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { readAnswers } from './read-answers.ts'

/** What `run` and `resume` are told by flags of their own. */
export type RunFlags = {
  readonly detach?: boolean
  readonly retries?: number
  readonly heartbeatGrace?: number
  readonly allowLevel?: 'L1' | 'L2' | 'L3'
  readonly answer?: readonly string[]
  readonly wait?: boolean
  readonly selftest?: boolean
}

/** What flags say about a run, in the directory in which they were typed. */
export function readRunOptions({ retries, heartbeatGrace, allowLevel, answer }: RunFlags, { timeout, idempotencyKey, secretFiles }: Globals, cwd: string): RunOptions {
  return {
    timeout: timeout === undefined ? undefined : toMilliseconds(timeout, 'timeout') / 1000,
    heartbeatGrace,
    retries,
    idempotencyKey,
    ...(allowLevel && { allowLevel }),
    ...(answer && { answers: readAnswers(answer) }),
    ...(secretFiles.length > 0 && { secrets: readPairs(secretFiles, cwd) }),
  }
}

function readPairs(pairs: readonly string[], cwd: string): { readonly [name: string]: string } {
  return Object.fromEntries(pairs.map((pair) => {
    const [, name, path] = /^([\w.-]+)=(.+)$/s.exec(pair) ?? []
    if (name === undefined || path === undefined) throw new ToolError('USAGE', '--secret-file needs name=path', { field: 'secret-file', suggestion: 'For example --secret-file token=./token.txt' })
    return [name, path === '-' ? path : resolve(cwd, path)]
  }))
}
