import { lstatSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { shorten } from '../../contract/shorten.ts'
import { contains } from '../sandbox/paths.ts'
import { copyTree } from './copy-tree.ts'
import type { Direction } from './direction.ts'
import type { StagedOutput } from './place-outputs.ts'

/** What paths of the caller mean, and where outputs are made until they are placed. */
export type PathSurroundings = {
  readonly cwd: string
  readonly workspace: string
  /** Where the paths led in an earlier attempt, by field and index: what the tool has turned elsewhere since is not followed. */
  readonly known?: Map<string, string>
}

type PathInput = {
  readonly field: string
  /** Among the paths of the same field. */ readonly index: number
  readonly text: string
  readonly direction: Direction
  readonly kind?: unknown
}

type TakenPath = {
  readonly text: string
  readonly readable: readonly string[]
  readonly output?: StagedOutput
  /** What the tool gets to read, or a copy of. */ readonly source?: string
}

/** Where outputs are made, in the workspace. A run that is resumed finds there what it made before. */
export const OUTPUTS_FOLDER = '.outputs'

/** Not places: streams of the tool itself, which every sandbox has. */
const STREAMS = ['-', '/dev/null', '/dev/stdin', '/dev/stdout', '/dev/stderr']
const NEVER = ['/proc', '/sys', '/dev']

/** Gives one path of the caller its meaning for the tool. Throws INVALID_PATH. */
export async function takePath(
  input: PathInput,
  { cwd, workspace, known }: PathSurroundings,
): Promise<TakenPath> {
  const { field, text, direction } = input
  if (STREAMS.includes(text)) return { text, readable: [] }
  if (text === '' || text.includes('\0'))
    throw invalid(
      field,
      text === '' ? 'is empty' : 'holds a NUL character',
      'Give the path of a file or a folder',
    )
  const path = resolve(cwd, text)
  if (direction === 'in') {
    const real = sameAsBefore(input, existing(input, path), known)
    return {
      text: text.endsWith('/') && !real.endsWith('/') ? `${real}/` : real,
      readable: [real],
      source: real,
    }
  }
  const target = sameAsBefore(
    input,
    direction === 'inout' ? existing(input, path) : targetOf(input, path),
    known,
  )
  const staged = join(
    makeFolder(workspace, [OUTPUTS_FOLDER, `${field.replace(/[^\w-]/g, '_')}-${input.index}`]),
    basename(target),
  )
  await fillStaged(input, target, staged)
  return {
    text: text.endsWith('/') ? `${staged}/` : staged,
    readable: [],
    output: { field, staged, target },
    ...(direction === 'inout' && { source: target }),
  }
}

function sameAsBefore(
  { field, index, text }: PathInput,
  real: string,
  known: PathSurroundings['known'],
): string {
  const before = known?.get(`${field} ${index}`) ?? real
  if (before !== real)
    throw invalid(
      field,
      `'${shorten(text, 200)}' leads to ${real} now, and led to ${before} when the run was started`,
      `ls -ld ${quoteForShell(text)}`,
    )
  known?.set(`${field} ${index}`, real)
  return real
}

function existing({ field, text, kind }: PathInput, path: string): string {
  const stats = lookAt(field, text, path)
  if (!stats)
    throw invalid(
      field,
      `there is no file or folder '${shorten(text, 200)}'`,
      `Give a path that exists; relative paths start at ${dirname(path) === path ? path : resolve(path, '..')}`,
    )
  if (!stats.isFile() && !stats.isDirectory())
    throw invalid(
      field,
      `'${shorten(text, 200)}' is neither a file nor a folder`,
      'Write its contents to a file first',
    )
  if (kind === 'file' && !stats.isFile())
    throw invalid(field, `'${shorten(text, 200)}' is a folder`, 'Give a file')
  if (kind === 'directory' && !stats.isDirectory())
    throw invalid(field, `'${shorten(text, 200)}' is a file`, 'Give a folder')
  const real = realpathSync.native(path)
  if (real === '/' || NEVER.some((place) => contains(place, real)))
    throw invalid(
      field,
      `'${shorten(text, 200)}' is the machine itself`,
      'Give a folder of your own',
    )
  return real
}

// The folder that an output goes to is the caller's choice, links included; from here on nothing follows one.
function targetOf({ field, text }: PathInput, path: string): string {
  const stats = lookAt(field, text, path)
  if (stats) {
    if (!stats.isFile() && !stats.isDirectory())
      throw invalid(
        field,
        `'${shorten(text, 200)}' is neither a file nor a folder`,
        'Give another path',
      )
    const real = realpathSync.native(path)
    if (real === '/' || NEVER.some((place) => contains(place, real)))
      throw invalid(
        field,
        `'${shorten(text, 200)}' is the machine itself`,
        'Give a folder of your own',
      )
    return real
  }
  if (lstatSync(path, { throwIfNoEntry: false }))
    throw invalid(
      field,
      `'${shorten(text, 200)}' is a link that leads nowhere`,
      `rm ${quoteForShell(path)}`,
    )
  const parent = dirname(path)
  if (!lookAt(field, text, parent)?.isDirectory())
    throw invalid(
      field,
      `there is no folder ${parent} for '${shorten(text, 200)}'`,
      `mkdir -p ${quoteForShell(parent)}`,
    )
  return join(realpathSync.native(parent), basename(path))
}

async function fillStaged(
  { text, direction }: PathInput,
  target: string,
  staged: string,
): Promise<void> {
  // A run that is resumed goes on with what it has.
  if (lstatSync(staged, { throwIfNoEntry: false })) return
  if (direction === 'inout') return copyTree(target, staged)
  // Tools expect a folder to be there that is there already.
  if (text.endsWith('/') || statSync(target, { throwIfNoEntry: false })?.isDirectory())
    mkdirSync(staged)
}

// Between two attempts the workspace is what the tool left, perhaps with a link in the way.
function makeFolder(root: string, names: readonly string[]): string {
  return names.reduce((folder, name) => {
    const path = join(folder, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats && !stats.isDirectory()) rmSync(path)
    if (!stats?.isDirectory()) mkdirSync(path)
    return path
  }, root)
}

function lookAt(field: string, text: string, path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw invalid(
      field,
      `'${shorten(text, 200)}' cannot be looked at (${(error as NodeJS.ErrnoException).code})`,
      `ls -ld ${quoteForShell(path)}`,
    )
  }
}

function invalid(field: string, problem: string, fix: string): ToolError {
  return new ToolError('INVALID_PATH', `${field}: ${problem}`, { field, suggestion: fix })
}
