import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import type { SuggestionInput } from '../../contract/tool-error.ts'
import { host } from '../../call/host.ts'
import { runChild } from '../../process/run-child.ts'
import type { Look, LookProblem } from './answer.ts'

const LONGEST_LOOK_MS = 120_000

/** Where a program is looked at. */
export type Surroundings = { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined }; readonly signal?: AbortSignal }

/** Looks at a program in a process of its own. Throws CONFIG with what it threw while it was loaded. */
export async function lookAt(ownFolder: string, bundle: string, program: string, around: Surroundings): Promise<Look> {
  const { written, said } = await inChild('ask', ownFolder, bundle, program, around)
  if (!written) throw new ToolError('CONFIG', `the program ended while it was loaded${said === '' ? '' : `: ${said}`}`, { suggestion: 'An entry only defines tools and runs its toolset; whatever else it does belongs into the tools' })
  const found = JSON.parse(written.toString()) as Look | LookProblem
  if (!('problem' in found)) return found
  const { message, stack, suggestion } = found.problem
  throw new ToolError('CONFIG', `the program cannot be loaded: ${message}`, { ...(stack !== undefined && { details: { stack: stack.split('\n').slice(0, 12) } }), ...(suggestion !== undefined && { suggestion: suggestion as SuggestionInput }) })
}

/** What V8 has compiled after a call, for the next start; undefined where the program could not be run so. */
export async function compileAhead(ownFolder: string, bundle: string, program: string, around: Surroundings): Promise<Buffer | undefined> {
  return (await inChild('warm', ownFolder, bundle, program, around)).written
}

async function inChild(mode: string, ownFolder: string, bundle: string, program: string, { cwd, env, signal }: Surroundings): Promise<{ readonly written: Buffer | undefined; readonly said: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-look-'))
  const out = join(folder, 'found')
  try {
    const whole = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
    const { stderr } = await runChild({ command: [host.node, join(ownFolder, 'look.js'), mode, bundle, program, out], cwd, env: whole, timeout: LONGEST_LOOK_MS, ...(signal && { signal }) })
    return { written: existsSync(out) ? readFileSync(out) : undefined, said: stderr.toString().trim().slice(0, 2000) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
