import { statSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { ToolError } from '../../../contract/tool-error.ts'
import type { PlaceGrant } from '../../permissions/grants.ts'
import { contains, isWholeHome, realPath } from '../paths.ts'
import type { ToolProfile } from '../profile.ts'
import { isOfSystem } from './ground.ts'

/** A file or folder that a tool sees: under which path, what it really is, whether it may write there, and whether it only sees that it is there. `isPinned`: it was given already, and only stays where it is. */
export type Place = {
  readonly path: string
  readonly source: string
  readonly isWritable: boolean
  readonly isHidden: boolean
  readonly isPinned?: true
}

type Wish = {
  readonly path: string
  readonly isWritable: boolean
  readonly why: 'hidden' | 'grant' | 'shown' | 'program'
  readonly tree?: boolean
}

/** Places that the sandbox makes itself. */
const MADE = ['/proc', '/dev', '/sys']

/**
 * Everything of this machine that a tool sees besides the system, outer places first. `parts` is what its program needs. Throws where a place cannot be given to it.
 */
export function listPlaces(
  { grants, workspace, readable, hidden = [] }: ToolProfile,
  parts: readonly string[],
): Place[] {
  const outside = (grant: PlaceGrant): boolean => !contains(workspace, grant.path)
  const wishes: Wish[] = [
    ...hidden.map((path): Wish => ({ path, isWritable: false, why: 'hidden' })),
    ...grants.write
      .filter(outside)
      .map(({ path, tree }): Wish => ({ path, tree, isWritable: true, why: 'grant' })),
    { path: workspace, isWritable: true, why: 'shown' },
    ...readable.map((path): Wish => ({ path, isWritable: false, why: 'shown' })),
    ...grants.read
      .filter(outside)
      .map(({ path, tree }): Wish => ({ path, tree, isWritable: false, why: 'grant' })),
    ...parts
      .filter((path) => !isOfSystem(path) && !isWholeHome(path))
      .map((path): Wish => ({ path, isWritable: false, why: 'program' })),
  ]
  const places: Place[] = []
  // The order of the wishes decides where two of them name the same place.
  for (const wish of [...wishes].sort((left, right) => left.path.length - right.path.length)) {
    const outer = places.findLast((place) => contains(place.path, wish.path))
    if (isNeedless(wish, outer)) continue
    const source = realPath(wish.path)
    checkWish(wish, source)
    if (source === undefined) continue
    if (outer?.isWritable) places.push(...pinBetween(outer, wish.path))
    places.push({
      path: wish.path,
      source,
      isWritable: wish.isWritable,
      isHidden: wish.why === 'hidden',
    })
  }
  return places
}

// Who may write to a folder may move what is in it, and put something else where the runner will look; only what is mounted itself cannot be moved.
function pinBetween(outer: Place, path: string): Place[] {
  const folders: Place[] = []
  for (let folder = dirname(path); folder !== outer.path; folder = dirname(folder)) {
    if (realPath(folder) === folder)
      folders.unshift({
        path: folder,
        source: folder,
        isWritable: true,
        isHidden: false,
        isPinned: true,
      })
  }
  return folders
}

// What lies in a place that is seen already needs nothing, unless it is less free than that place on purpose.
function isNeedless({ path, isWritable, why }: Wish, outer: Place | undefined): boolean {
  if (outer === undefined) return why === 'hidden' || (!isWritable && isOfSystem(path))
  if (outer.isHidden) return why !== 'shown'
  if (why === 'hidden') return false
  return (
    outer.isWritable === isWritable || outer.path === path || (outer.isWritable && why !== 'shown')
  )
}

function checkWish({ path, why, tree }: Wish, source: string | undefined): void {
  if (!isAbsolute(path) || path === '/' || MADE.some((made) => contains(made, path)))
    throw new ToolError('PERMISSION', `${path} cannot be given to a tool`, {
      suggestion: 'Name the folder that the tool needs, and nothing above it',
    })
  if (source === undefined) {
    if (why === 'shown')
      throw new ToolError(
        'INVALID_PATH',
        `${path}: there is no such file or folder to show to the tool`,
        { suggestion: `mkdir -p ${path}` },
      )
    return
  }
  if (why !== 'grant') return
  // It was none when the manifest was read: somebody who may write there put it in place.
  if (source !== path)
    throw new ToolError(
      'PERMISSION',
      `${path} is granted to the tool, but it is a link to ${source}`,
      { suggestion: `Grant ${source} instead, or remove the link` },
    )
  if (tree === false && statSync(source).isDirectory())
    throw new ToolError('CONFIG', `${path} is granted to the tool as a file, but it is a folder`, {
      suggestion: `Write ${path}/** in the manifest to grant what lies in it`,
    })
}
