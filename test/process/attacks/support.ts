import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import type { ChildEnd, ChildOptions, ToolProfile } from '../../../src/process/child.ts'
import type { Grants } from '../../../src/process/grants.ts'
import { runChild } from '../../../src/process/run.ts'
import { HANG_MS } from '../../support/limits.ts'

/** Where the attackers lie. */
export const attackers = fileURLToPath(new URL('../../fixtures/attacks/', import.meta.url))
export const env = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LC_ALL: 'C.UTF-8',
  PYTHONDONTWRITEBYTECODE: '1',
}
export const isRoot = process.getuid?.() === 0

/**
 * A folder that is not the private /tmp of a sandbox, with a secret that everybody might read if he
 * could get at it.
 */
export const folder = mkdtempSync('/var/tmp/toolable-attacks-')
export const secret = join(folder, 'secret')
chmodSync(folder, 0o755)
writeFileSync(secret, 'secret', { mode: 0o644 })

afterAll(() => rmSync(folder, { recursive: true, force: true }))

let workspaces = 0

/** An empty workspace. */
export function makeWorkspace(): string {
  const workspace = join(folder, `work-${(workspaces += 1)}`)
  mkdirSync(workspace)
  return workspace
}

/** The profile of a tool that was granted nothing but what is given here. */
export function profileOf(
  grants: Partial<Grants> = {},
  more: Partial<ToolProfile> = {},
): ToolProfile {
  return {
    grants: { read: [], write: [], network: 'none', limits: {}, secrets: [], ...grants },
    workspace: makeWorkspace(),
    readable: [attackers],
    ...more,
  }
}

/** Options of a child in a sandbox of that profile. */
export function inSandbox(
  profile: ToolProfile,
  options: Partial<ChildOptions> = {},
): Pick<ChildOptions, 'cwd' | 'env' | 'sandbox' | 'timeout'> & Partial<ChildOptions> {
  return { cwd: profile.workspace, env, sandbox: profile, timeout: HANG_MS, ...options }
}

/** The command of an attacker, by the language of its file. */
export function attacker(file: string, ...args: readonly string[]): [string, ...string[]] {
  const program = file.endsWith('.py')
    ? ['/usr/bin/python3', '-I']
    : file.endsWith('.sh')
      ? ['/bin/sh']
      : [process.execPath]
  return [...program, join(attackers, file), ...args] as [string, ...string[]]
}

/** Runs an attacker in a sandbox that grants it nothing. */
export function attack(
  command: ChildOptions['command'],
  grants: Partial<Grants> = {},
  options: Partial<ChildOptions> = {},
): Promise<ChildEnd> {
  return runChild({ ...inSandbox(profileOf(grants)), command, ...options })
}

/** What an attacker printed, or all that is known where it printed nothing. */
export function said(end: ChildEnd): unknown {
  const text = end.stdout.toString().trim()
  return text.startsWith('[') || text.startsWith('{')
    ? JSON.parse(text)
    : { text, end: { ...end, stdout: undefined, stderr: end.stderr.toString() } }
}

/** Prints a figure of the attack suite. */
export function tell(figure: string): void {
  console.info(`attacks as ${isRoot ? 'root' : 'a user'}: ${figure}`)
}
