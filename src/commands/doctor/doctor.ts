import type { Level } from '../../process/permissions/grants.ts'
import { LEVELS } from '../../process/permissions/grants.ts'
import type { Finding, Where } from './finding.ts'
import { lookAtMachine } from './look-at-machine.ts'
import { lookAtProject } from './look-at-project.ts'
import { lookAtSandbox } from './look-at-sandbox.ts'

/** What `doctor` is asked. */
export type DoctorInput = { readonly level?: Level }

/** What `doctor` gives. `enough`: nothing is broken, and the level that was asked for is reached. */
export type Diagnosis = {
  readonly level: Level
  readonly wanted?: Level
  readonly enough: boolean
  readonly findings: readonly Finding[]
}

/** Finds out what this machine can enforce, and whether runs can be made here at all. */
export async function diagnose({ level: wanted }: DoctorInput, where: Where): Promise<Diagnosis> {
  const { abilities, findings: sandbox } = await lookAtSandbox(where)
  const findings = [...sandbox, ...lookAtMachine(where), ...(await lookAtProject(where))]
  const isReached =
    wanted === undefined || LEVELS.indexOf(abilities.level) >= LEVELS.indexOf(wanted)
  return {
    level: abilities.level,
    ...(wanted !== undefined && { wanted }),
    enough: isReached && !findings.some(({ status }) => status === 'broken'),
    findings,
  }
}
