import type { Abilities } from '../../process/sandbox/abilities.ts'
import { findAbilities } from '../../process/sandbox/abilities.ts'
import { tryEgress } from '../../process/sandbox/egress/try-egress.ts'
import type { Finding, Where } from './finding.ts'
import { fixOf } from './finding.ts'

/** What each mechanism does where it works. */
const MECHANISMS = {
  files: 'files outside the grants of a tool cannot be read or written',
  network: 'a tool without grants reaches no server',
  processes: 'a tool does not see processes of others',
  seccomp: 'system calls are filtered',
  privileges: 'no program gains rights',
  nproc: 'the kernel bounds the number of processes',
} as const

/** Who holds the memory of a whole tree. */
const HOLDERS = {
  cgroup: 'the kernel bounds the memory of a whole tree (cgroup v2)',
  watchdog: 'a watchdog bounds the memory of a whole tree',
} as const

/** Tries what this machine can enforce on tools. */
export async function lookAtSandbox({
  env,
}: Where): Promise<{ readonly abilities: Abilities; readonly findings: readonly Finding[] }> {
  const abilities = await findAbilities(env)
  const { details, problem } = abilities
  const why = problem?.message ?? 'it does not hold'
  const missing = (id: string): Finding => ({
    id,
    part: 'sandbox',
    status: 'missing',
    found: why,
    ...fixOf(problem),
  })
  const names = Object.keys(MECHANISMS) as (keyof typeof MECHANISMS)[]
  const findings = names.map((id): Finding =>
    details[id] ? { id, part: 'sandbox', status: 'ok', found: MECHANISMS[id] } : missing(id),
  )
  const egress =
    abilities.level === 'L3'
      ? describeEgress(await tryEgress(env['PATH'] ?? ''))
      : missing('egress')
  const memory: Finding = {
    id: 'memory',
    part: 'sandbox',
    status: 'ok',
    found: HOLDERS[details.memory],
  }
  return { abilities, findings: [...findings, egress, memory, ...describeUser(abilities)] }
}

function describeEgress(problem: Error | undefined): Finding {
  if (!problem)
    return {
      id: 'egress',
      part: 'sandbox',
      status: 'ok',
      found: 'a tool reaches exactly the servers that it was granted',
    }
  return {
    id: 'egress',
    part: 'sandbox',
    status: 'missing',
    found: problem.message,
    ...fixOf(problem, 'sudo apt-get install --reinstall bubblewrap util-linux'),
  }
}

function describeUser({ details: { user }, problem }: Abilities): readonly Finding[] {
  if (!user)
    return problem?.code === 'CONFIG'
      ? [
          {
            id: 'user',
            part: 'sandbox',
            status: 'broken',
            found: problem.message,
            ...fixOf(problem),
          },
        ]
      : []
  return [
    {
      id: 'user',
      part: 'sandbox',
      status: 'ok',
      found: user.isDropped
        ? `tools are user ${user.uid} where root starts them`
        : `tools are user ${user.uid}, as you are`,
    },
  ]
}
