import { lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Json } from '../../contract/json.ts'
import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Environment } from '../base-environment.ts'
import type { Policy } from './policy.ts'
import { NO_POLICY } from './policy.ts'

/** The policy of the machine. */
export const SYSTEM_POLICY = '/etc/toolable/policy.yaml'

const LARGEST_FILE = 256 * 1024
const LONGEST_KNOWN = 1000
let bare: { readonly cwd: string; readonly at: number } | undefined
const PROJECT_POLICIES = ['toolable.policy.yaml', 'toolable.policy.yml']

/** Whether any policy counts for a caller in that directory. Asked for every call of every tool, so that for a second nobody looks twice. */
export function hasPolicies(
  cwd: string,
  env: Environment,
  system: string = SYSTEM_POLICY,
): boolean {
  if (env['TOOLABLE_POLICY']) return true
  const now = performance.now()
  if (bare?.cwd === cwd && now - bare.at < LONGEST_KNOWN) return false
  const found =
    mayExist(system) ||
    foldersUpwards(cwd).some((folder) =>
      PROJECT_POLICIES.some((name) => mayExist(join(folder, name))),
    )
  bare = found ? undefined : { cwd, at: now }
  return found
}

/** All policies that count for a caller in that directory: of the machine, of the environment (`TOOLABLE_POLICY`), and every `toolable.policy.yaml` from the directory upwards. Throws CONFIG for one that cannot be read, because to leave it out would widen what it limits. */
export async function loadPolicies(
  cwd: string,
  env: Environment,
  system: string = SYSTEM_POLICY,
): Promise<Policy> {
  const named = env['TOOLABLE_POLICY']
  const texts = [
    ...read(system),
    ...(named === undefined || named === '' ? [] : demand(resolve(cwd, named))),
    ...foldersUpwards(cwd).flatMap((folder) =>
      PROJECT_POLICIES.flatMap((name) => read(join(folder, name))),
    ),
  ]
  if (texts.length === 0) return NO_POLICY
  const { readPolicy } = await import('./read-policy.ts')
  const policies = await Promise.all(
    [...new Map(texts.map((each) => [each.file, each])).values()].map(({ file, text }) =>
      readPolicy(file, text),
    ),
  )
  return { layers: policies.flatMap(({ layers }) => layers), answers: firstOfEach(policies) }
}

type PolicyText = { readonly file: string; readonly text: string }

function demand(file: string): readonly PolicyText[] {
  const texts = read(file)
  if (texts.length === 0)
    throw new ToolError(
      'CONFIG',
      `the policy ${file}, which TOOLABLE_POLICY names, does not exist`,
      { suggestion: 'Name a file that exists, or unset TOOLABLE_POLICY' },
    )
  return texts
}

// A link that leads nowhere, and a folder that nobody may look into, are no reason to do without a policy.
function mayExist(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}

function read(file: string): readonly PolicyText[] {
  if (!mayExist(file)) return []
  try {
    const stats = statSync(file)
    if (!stats.isFile() || stats.size > LARGEST_FILE)
      throw new ToolError(
        'CONFIG',
        `the policy ${file} ${stats.isFile() ? `has ${stats.size} bytes; it may have ${LARGEST_FILE}` : 'is no file'}`,
      )
    return [{ file, text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)) }]
  } catch (error) {
    if (ToolError.is(error)) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new ToolError(
      'CONFIG',
      `the policy ${file} cannot be read: ${error instanceof TypeError ? 'it is not UTF-8' : code}`,
      { suggestion: `ls -l ${quoteForShell(file)}`, cause: error },
    )
  }
}

function foldersUpwards(cwd: string): readonly string[] {
  const folders = [cwd]
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder))
    folders.push(dirname(folder))
  return folders
}

function firstOfEach(policies: readonly Policy[]): Policy['answers'] {
  const answers = Object.create(null) as { [key: string]: Json }
  for (const policy of policies)
    for (const [key, value] of Object.entries(policy.answers))
      if (!Object.hasOwn(answers, key)) answers[key] = value
  return answers
}
