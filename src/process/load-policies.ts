/**
 * Finds the policies of the machine, of `TOOLABLE_POLICY` and of the project. `hasPolicies` runs
 * for every call of a foreign tool, so it reads no YAML.
 */

import { lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ToolError } from '../protocol/tool-error.ts'
import { quoteForShell } from '../util/text.ts'
import type { Json } from '../util/values.ts'
import type { HostEnv } from './environment.ts'
import { NO_POLICY } from './policy.ts'
import type { Policy } from './policy.ts'

/** The policy of the machine. */
export const SYSTEM_POLICY = '/etc/toolable/policy.yaml'

const MAX_POLICY_BYTES = 256 * 1024
const NO_POLICY_CACHE_MS = 1000
let lastWithoutPolicy: { readonly cwd: string; readonly at: number } | undefined
const PROJECT_POLICIES = ['toolable.policy.yaml', 'toolable.policy.yml']

/**
 * Whether any policy counts for a caller in that directory. Asked for every call of every tool, so
 * that for a second nobody looks twice.
 */
export function hasPolicies(cwd: string, env: HostEnv, system: string = SYSTEM_POLICY): boolean {
  if (env['TOOLABLE_POLICY']) return true
  const now = performance.now()
  if (lastWithoutPolicy?.cwd === cwd && now - lastWithoutPolicy.at < NO_POLICY_CACHE_MS)
    return false
  const found =
    mayPolicyExist(system) ||
    listFoldersUpwards(cwd).some((folder) =>
      PROJECT_POLICIES.some((name) => mayPolicyExist(join(folder, name))),
    )
  lastWithoutPolicy = found ? undefined : { cwd, at: now }
  return found
}

/**
 * All policies that count for a caller in that directory: of the machine, of the environment
 * (`TOOLABLE_POLICY`), and every `toolable.policy.yaml` from the directory upwards. Throws CONFIG
 * for one that cannot be read, because to leave it out would widen what it limits.
 */
export async function loadPolicies(
  cwd: string,
  env: HostEnv,
  system: string = SYSTEM_POLICY,
): Promise<Policy> {
  const named = env['TOOLABLE_POLICY']
  const texts = [
    ...readPolicyText(system),
    ...(named === undefined || named === '' ? [] : readRequiredPolicy(resolve(cwd, named))),
    ...listFoldersUpwards(cwd).flatMap((folder) =>
      PROJECT_POLICIES.flatMap((name) => readPolicyText(join(folder, name))),
    ),
  ]
  if (texts.length === 0) return NO_POLICY
  const { readPolicy } = await import('./policy-file.ts')
  const policies = await Promise.all(
    [...new Map(texts.map((each) => [each.file, each])).values()].map(({ file, text }) =>
      readPolicy(file, text),
    ),
  )
  return { layers: policies.flatMap(({ layers }) => layers), answers: mergeAnswers(policies) }
}

type PolicyText = { readonly file: string; readonly text: string }

function readRequiredPolicy(file: string): readonly PolicyText[] {
  const texts = readPolicyText(file)
  if (texts.length === 0)
    throw new ToolError(
      'CONFIG',
      `the policy ${file}, which TOOLABLE_POLICY names, does not exist`,
      { suggestion: 'Name a file that exists, or unset TOOLABLE_POLICY' },
    )
  return texts
}

// A link that leads nowhere, and a folder that nobody may look into, are no reason to do without a
// policy.
function mayPolicyExist(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}

function readPolicyText(file: string): readonly PolicyText[] {
  if (!mayPolicyExist(file)) return []
  try {
    const stats = statSync(file)
    if (!stats.isFile() || stats.size > MAX_POLICY_BYTES)
      throw new ToolError(
        'CONFIG',
        `the policy ${file} ${stats.isFile() ? `has ${stats.size} bytes; it may have ${MAX_POLICY_BYTES}` : 'is no file'}`,
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

function listFoldersUpwards(cwd: string): readonly string[] {
  const folders = [cwd]
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder))
    folders.push(dirname(folder))
  return folders
}

function mergeAnswers(policies: readonly Policy[]): Policy['answers'] {
  const answers = Object.create(null) as { [key: string]: Json }
  for (const policy of policies)
    for (const [key, value] of Object.entries(policy.answers))
      if (!Object.hasOwn(answers, key)) answers[key] = value
  return answers
}
