import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '../../../contract/tool-error.ts'
import { readText } from '../../../call/exclusive-file.ts'
import { digestsAt, ownPaths, readMarker } from './marker.ts'
import type { Marker } from './marker.ts'
import { digestOfText } from './skill.ts'
import type { Skill } from './skill.ts'

/** A skill's folder as it is: missing, as it would be written now, as it was written before, changed by somebody since, or somebody else's. */
export type FoundSkill =
  | { readonly state: 'absent' }
  | { readonly state: 'current'; readonly marker: Marker }
  /** `reason`: somebody's file stands where one of ours would go. */
  | { readonly state: 'stale'; readonly marker: Marker; readonly reason?: string }
  | { readonly state: 'edited'; readonly marker: Marker; readonly reason: string }
  | { readonly state: 'foreign'; readonly reason: string }

/** Looks at the folder of a skill. Throws CONFIG for what is no folder, or leads out of it. */
export function inspectSkill(folder: string, skill: Skill): FoundSkill {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) return { state: 'absent' }
  if (!stats.isDirectory())
    throw new ToolError(
      'CONFIG',
      stats.isSymbolicLink()
        ? "is a link, and what it leads to may be somebody else's"
        : 'is not a folder',
    )
  if (readdirSync(folder).length === 0) return { state: 'absent' }
  const marker = readMarker(folder)
  if (marker?.program !== skill.program)
    return {
      state: 'foreign',
      reason: marker
        ? `the folder belongs to the program ${marker.program}`
        : 'the folder was written by somebody else',
    }
  const edited = ownPaths(marker).find((path) => isOther(folder, path, digestsAt(marker, path)))
  if (edited !== undefined)
    return {
      state: 'edited',
      marker,
      reason: `${edited} was changed by somebody after it was installed`,
    }
  if (isCurrent(folder, marker, skill)) return { state: 'current', marker }
  const obstacle = [...skill.files].find(([path, text]) =>
    isOther(folder, path, [...digestsAt(marker, path), digestOfText(text)]),
  )?.[0]
  return {
    state: 'stale',
    marker,
    ...(obstacle !== undefined && { reason: `${obstacle} was written by somebody else` }),
  }
}

/** A file of a skill; undefined where it is missing. Throws CONFIG where a link in the folder leads somewhere else. */
export function readSkillFile(folder: string, path: string): string | undefined {
  const parent = dirname(join(folder, path))
  if (
    lstatSync(parent, { throwIfNoEntry: false }) &&
    realpathSync(parent) !== join(realpathSync(folder), dirname(path))
  )
    throw new ToolError('CONFIG', `holds a link at ${dirname(path)}`)
  return lstatSync(join(folder, path), { throwIfNoEntry: false })
    ? (readText(join(folder, path)) ?? '')
    : undefined
}

// A missing file is no loss; one with a content that we did not write would be.
function isOther(folder: string, path: string, known: readonly string[]): boolean {
  const text = readSkillFile(folder, path)
  return text !== undefined && !known.includes(digestOfText(text))
}

function isCurrent(folder: string, marker: Marker, skill: Skill): boolean {
  if (marker.pending || Object.keys(marker.files).length !== skill.files.size) return false
  return [...skill.files].every(
    ([path, text]) =>
      digestsAt(marker, path).includes(digestOfText(text)) &&
      readSkillFile(folder, path) !== undefined,
  )
}
