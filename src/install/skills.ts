/**
 * Adds, removes and lists the skill of a program in the skill folders of agents.
 */

import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { retryWhileFoldersVanish, withFileLock } from '../core/files/lock.ts'
import {
  createFolders,
  removeFoldersWhenFree,
  requireWritableFolder,
  toFileError,
} from '../core/files/shared-file.ts'
import { hasErrorCode } from '../util/files.ts'
import { compact } from '../util/values.ts'
import type { AgentEnvironment, CodingAgent, InstallScope } from './agents/agent.ts'
import { isAgentUsed } from './agents/agents.ts'
import type { InstallRow, InstallRun } from './report.ts'
import { getFileProblem } from './report.ts'
import type { FoundSkill, InstallableSkill } from './skill-folder.ts'
import { createSkill, inspectSkill, removeSkill, updateSkill } from './skill-folder.ts'

type ChangeSkillOptions = InstallRun & { readonly force: boolean }

// What to do with a folder as it is, and the doing, which gives the folders that may be empty now.
// `made` are those that had to be made.
type SkillWork = {
  decide(found: FoundSkill): InstallRow['action']
  isForcible(found: FoundSkill): boolean
  write(found: FoundSkill, made: readonly string[]): readonly string[]
}

/** Writes a skill into a folder of skills, or plans to. */
export function addSkill(
  place: SkillInstallFolder,
  skill: InstallableSkill,
  options: ChangeSkillOptions,
): Promise<InstallRow> {
  return changeFolder(place, skill, options, {
    decide(found) {
      if (found.state === 'absent') return 'add'
      if (found.state === 'current') return 'unchanged'
      return (found.state === 'stale' && found.reason === undefined) || options.force
        ? 'update'
        : 'conflict'
    },
    isForcible: () => true,
    write(found, made) {
      if (found.state === 'absent') createSkill(place.folder, skill, made.length)
      // We may have made folders in which another was faster with the skill.
      else
        updateSkill(
          place.folder,
          skill,
          'marker' in found ? { ...found.marker, folders: found.marker.folders + made.length } : {},
        )
      return []
    },
  })
}

/** Takes a skill out of a folder of skills, or plans to. */
export function uninstallSkill(
  place: SkillInstallFolder,
  skill: InstallableSkill,
  options: ChangeSkillOptions,
): Promise<InstallRow> {
  return changeFolder(place, skill, options, {
    decide(found) {
      if (found.state === 'absent') return 'unchanged'
      return found.state === 'foreign' || (found.state === 'edited' && !options.force)
        ? 'conflict'
        : 'remove'
    },
    isForcible: (found) => found.state === 'edited',
    write: (found, made) => ('marker' in found ? removeSkill(place.folder, found.marker) : made),
  })
}

async function changeFolder(
  place: SkillInstallFolder,
  skill: InstallableSkill,
  options: ChangeSkillOptions,
  work: SkillWork,
): Promise<InstallRow> {
  try {
    return await retryWhileFoldersVanish(() => changeOnce(place, skill, options, work))
  } catch (error) {
    throw toFileError(error, place.folder)
  }
}

async function changeOnce(
  { folder, agents }: SkillInstallFolder,
  skill: InstallableSkill,
  { dryRun, signal }: ChangeSkillOptions,
  work: SkillWork,
): Promise<InstallRow> {
  const first = planChange(folder, agents, skill, work)
  if (first.changes) requireWritableFolder(folder)
  if (dryRun || !first.changes) return first.row
  const made = createFolders(folder)
  let leftover = made
  try {
    return await withFileLock(folder, signal, () => {
      const { found, row, changes } = planChange(folder, agents, skill, work)
      if (changes || (made.length > 0 && found.state === 'current'))
        leftover = work.write(found, made)
      return row
    })
  } finally {
    // Only now, because the lock is in one of them.
    await removeFoldersWhenFree(leftover)
  }
}

function planChange(
  folder: string,
  agents: readonly string[],
  skill: InstallableSkill,
  work: SkillWork,
): { readonly found: FoundSkill; readonly row: InstallRow; readonly changes: boolean } {
  const found = inspectSkill(folder, skill)
  const action = work.decide(found)
  const reason = 'reason' in found ? found.reason : undefined
  const details = compact({
    agents,
    reason,
    forcible: action === 'conflict' ? work.isForcible(found) : undefined,
    files: action === 'add' || action === 'update' ? [...skill.files.keys()] : undefined,
  })
  return {
    found,
    row: { action, target: folder, details },
    changes: ['add', 'update', 'remove'].includes(action),
  }
}

/** The skill in the folder of one agent. */
type ListedSkill = {
  readonly agent: string
  readonly detected: boolean
  readonly scope: InstallScope
  readonly name: string
  readonly state: 'current' | 'stale' | 'edited' | 'foreign' | 'absent' | 'broken'
  readonly folder: string
  readonly reason?: string
}

/** Where a skill is installed, and whether it is what would be written now. */
export function listSkills(
  agents: readonly CodingAgent[],
  scopes: readonly InstallScope[],
  skill: InstallableSkill,
  environment: AgentEnvironment,
): readonly ListedSkill[] {
  return scopes.flatMap((scope) =>
    agents.flatMap((agent) =>
      listSkillFolders([agent], scope, skill.name, environment).map(({ folder }) => ({
        agent: agent.name,
        detected: isAgentUsed(agent, environment),
        scope,
        name: skill.name,
        ...getSkillState(folder, skill),
      })),
    ),
  )
}

function getSkillState(
  folder: string,
  skill: InstallableSkill,
): Pick<ListedSkill, 'state' | 'folder' | 'reason'> {
  try {
    const found = inspectSkill(folder, skill)
    const reason = 'reason' in found ? found.reason : undefined
    return compact({ state: found.state, folder, reason })
  } catch (error) {
    return { state: 'broken', folder, reason: getFileProblem(error, folder) }
  }
}

/** A folder for a skill, and the agents that read it. */
export type SkillInstallFolder = {
  readonly folder: string
  readonly scope: InstallScope
  readonly agents: readonly string[]
}

/** The folders of some agents, each once however many of them read it. */
export function listSkillFolders(
  agents: readonly CodingAgent[],
  scope: InstallScope,
  name: string,
  environment: AgentEnvironment,
): readonly SkillInstallFolder[] {
  const readers = new Map<string, string[]>()
  for (const agent of agents) {
    const folder = join(resolveLinks(agent.getSkillsFolder(scope, environment)), name)
    readers.set(folder, [...(readers.get(folder) ?? []), agent.name])
  }
  return [...readers].map(([folder, names]) => ({ folder, scope, agents: names }))
}

// One folder of skills is often a link to another.
function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    // A path that cannot be followed is reported when it is used.
    if (!hasErrorCode(error, 'ENOENT') || dirname(path) === path) return path
    return join(resolveLinks(dirname(path)), basename(path))
  }
}
