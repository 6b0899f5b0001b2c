import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import type { SuggestionInput } from '../../contract/tool-error.ts'
import { host } from '../../call/host.ts'
import { runChild } from '../../process/run-child.ts'
import { inTemporary } from '../temporary.ts'
import type { Look, LookProblem, Subject, SubjectFile } from './answer.ts'

const LONGEST_LOOK_MS = 120_000

/** Where a program is looked at. */
export type Surroundings = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly signal?: AbortSignal
}

/** Looks at a program in a process of its own. Throws CONFIG with what it threw while it was loaded. */
export async function lookAt(
  ownFolder: string,
  subject: Subject,
  around: Surroundings,
): Promise<Look> {
  return inChild('ask', ownFolder, subject, around, (out, said) => {
    if (!existsSync(out))
      throw new ToolError(
        'CONFIG',
        `the program ended while it was loaded${said === '' ? '' : `: ${said}`}`,
        {
          suggestion:
            'An entry only defines tools and runs its toolset; whatever else it does belongs into the tools',
        },
      )
    const found = JSON.parse(readFileSync(out, 'utf8')) as Look | LookProblem
    if (!('problem' in found)) return found
    const { message, stack, suggestion } = found.problem
    throw new ToolError('CONFIG', `the program cannot be loaded: ${message}`, {
      ...(stack !== undefined && { details: { stack: stack.split('\n').slice(0, 12) } }),
      ...(suggestion !== undefined && { suggestion: suggestion as SuggestionInput }),
    })
  })
}

/** The chunks that a call of the program asks for; empty where no call could be made up. */
export async function traceCall(
  ownFolder: string,
  subject: Subject,
  around: Surroundings,
): Promise<ReadonlySet<string>> {
  return inChild(
    'trace',
    ownFolder,
    subject,
    around,
    (out) => new Set(existsSync(out) ? (JSON.parse(readFileSync(out, 'utf8')) as string[]) : []),
  )
}

/** What V8 has compiled of a program after a call; undefined where it could not be run. */
export async function compileAhead(
  ownFolder: string,
  subject: Subject,
  around: Surroundings,
): Promise<Buffer | undefined> {
  return inChild('warm', ownFolder, subject, around, (out) =>
    existsSync(out) ? readFileSync(out) : undefined,
  )
}

async function inChild<T>(
  mode: string,
  ownFolder: string,
  { program, bundle, script: { text, length } }: Subject,
  { cwd, env, signal }: Surroundings,
  read: (out: string, said: string) => T,
): Promise<T> {
  return inTemporary(async (folder) => {
    const [given, script, out] = [
      join(folder, 'subject'),
      join(folder, 'script'),
      join(folder, 'found'),
    ]
    writeFileSync(script, text, 'latin1')
    writeFileSync(given, JSON.stringify({ program, bundle, script, length } satisfies SubjectFile))
    const whole = Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    )
    const { stderr } = await runChild({
      command: [host.node, join(ownFolder, 'look.js'), mode, given, out],
      cwd,
      env: whole,
      timeout: LONGEST_LOOK_MS,
      ...(signal && { signal }),
    })
    return read(out, stderr.toString().trim().slice(0, 2000))
  })
}
