import { existsSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { findProject } from '../../call/find-project.ts'
import { readStateFile, withStateFile } from '../../call/state-file.ts'
import type { Context } from '../../contract/context.ts'
import { createKeeper } from './plan-keeper.ts'
import type { PlanKeeper } from './plan-keeper.ts'
import type { PlanWords } from './plan-model.ts'
import { planSlice } from './plan-slice.ts'

const FOLDER = '.toolable'

type Options = {
  /** Nothing will change: nobody waits for anybody. */ readonly readOnly: boolean
  readonly words?: PlanWords
}

/** The session file that counts in a directory: the one that was named, else `.toolable/session.json` beside the configuration that was named, else beside the nearest one upwards, else in the directory itself. */
export function findSessionFile(
  cwd: string,
  {
    file,
    config,
  }: { readonly file?: string | undefined; readonly config?: string | undefined } = {},
): string {
  if (file !== undefined) return resolve(cwd, file)
  return join(
    config === undefined ? (findProject(cwd) ?? cwd) : dirname(resolve(cwd, config)),
    FOLDER,
    'session.json',
  )
}

/** Works on the plan of a session file. What changes is told when it is on the disk, not before. */
export async function openPlanFile<Result>(
  path: string,
  ctx: Pick<Context, 'progress' | 'signal'>,
  work: (keeper: PlanKeeper) => Result,
  { readOnly, words }: Options,
): Promise<Result> {
  const slices = [planSlice]
  const said: Parameters<Context['progress']>[] = []
  const doWork = (state: Context['state']): Result =>
    work(createKeeper({ state, progress: (...progress) => void said.push(progress) }, words))
  const isNew = !existsSync(dirname(path))
  const result = readOnly
    ? doWork(await readStateFile(path, { slices }))
    : await withStateFile(path, doWork, { slices, signal: ctx.signal })
  if (isNew) keepFromGit(dirname(path))
  for (const progress of said) ctx.progress(...progress)
  return result
}

// Nobody else works in this session; and the folder is there only when something was kept.
function keepFromGit(folder: string): void {
  if (basename(folder) !== FOLDER || !existsSync(folder)) return
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx' })
  } catch {
    /* the plan is kept all the same */
  }
}
