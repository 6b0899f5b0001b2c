import { fileProblem } from '../../../call/files/file-problem.ts'
import { leaveFolders, makeFolders, requireWritableFolder } from '../../../call/files/folders.ts'
import { whileFoldersVanish, withLock } from '../../../call/files/lock.ts'
import type { Row } from '../report.ts'
import { inspectSkill } from './inspect.ts'
import type { FoundSkill } from './inspect.ts'
import type { SkillPlace } from './places.ts'
import type { Skill } from './skill.ts'
import { createSkill, removeSkill, updateSkill } from './write.ts'

type Options = { readonly force: boolean; readonly dryRun: boolean; readonly signal: AbortSignal }

// What to do with a folder as it is, and the doing, which gives the folders that may be empty now. `made` are those that had to be made.
type Work = {
  decide(found: FoundSkill): Row['action']
  isForcible(found: FoundSkill): boolean
  write(found: FoundSkill, made: readonly string[]): readonly string[]
}

/** Writes a skill into a folder of skills, or plans to. */
export function addSkill(place: SkillPlace, skill: Skill, options: Options): Promise<Row> {
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
export function dropSkill(place: SkillPlace, skill: Skill, options: Options): Promise<Row> {
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
  place: SkillPlace,
  skill: Skill,
  options: Options,
  work: Work,
): Promise<Row> {
  try {
    return await whileFoldersVanish(() => changeOnce(place, skill, options, work))
  } catch (error) {
    throw fileProblem(error, place.folder)
  }
}

async function changeOnce(
  { folder, agents }: SkillPlace,
  skill: Skill,
  { dryRun, signal }: Options,
  work: Work,
): Promise<Row> {
  const first = look(folder, agents, skill, work)
  if (first.changes) requireWritableFolder(folder)
  if (dryRun || !first.changes) return first.row
  const made = makeFolders(folder)
  let leftover = made
  try {
    return await withLock(folder, signal, () => {
      const { found, row, changes } = look(folder, agents, skill, work)
      if (changes || (made.length > 0 && found.state === 'current'))
        leftover = work.write(found, made)
      return row
    })
  } finally {
    // Only now, because the lock is in one of them.
    await leaveFolders(leftover)
  }
}

function look(
  folder: string,
  agents: readonly string[],
  skill: Skill,
  work: Work,
): { readonly found: FoundSkill; readonly row: Row; readonly changes: boolean } {
  const found = inspectSkill(folder, skill)
  const action = work.decide(found)
  const reason = 'reason' in found ? found.reason : undefined
  const details = {
    agents,
    ...(reason !== undefined && { reason }),
    ...(action === 'conflict' && { forcible: work.isForcible(found) }),
    ...((action === 'add' || action === 'update') && { files: [...skill.files.keys()] }),
  }
  return {
    found,
    row: { action, target: folder, details },
    changes: ['add', 'update', 'remove'].includes(action),
  }
}
