import type { FileHandle } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { isObject } from '../../../../contract/json.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import { openInside, Refusal } from '../../../../runner/artifacts/open-inside.ts'
import type { ShownArtifact } from '../../../model/wire/run-detail.ts'
import { keepText } from '../row/keep-text.ts'

/** What a run says it has left, and whether a copy of each is there. */
export async function showArtifacts(
  artifacts: readonly unknown[],
  folder: string,
  attempt: number,
): Promise<readonly ShownArtifact[]> {
  return Promise.all(
    artifacts.map(async (one, index) => {
      const shown = describe(one, index, attempt)
      return { ...shown, kept: shown.path !== undefined && (await isKept(folder, shown.path)) }
    }),
  )
}

function describe(one: unknown, index: number, attempt: number): Omit<ShownArtifact, 'kept'> {
  const { path, uri, name, bytes, sha256, type, files } = isObject(one)
    ? one
    : { path: typeof one === 'string' ? one : undefined }
  const where = typeof path === 'string' ? path : typeof uri === 'string' ? uri : undefined
  return {
    index,
    attempt,
    name: keepText(
      typeof name === 'string' && name !== ''
        ? name
        : (where?.split('/').filter(Boolean).at(-1) ?? `artifact ${index + 1}`),
      300,
    ),
    ...(typeof path === 'string' && { path }),
    ...(typeof uri === 'string' && { uri }),
    ...(typeof bytes === 'number' && { bytes }),
    ...(typeof sha256 === 'string' && { sha256 }),
    ...(typeof files === 'number'
      ? { type: 'folder' }
      : typeof type === 'string' && { type: keepText(type, 100) }),
  }
}

/** Where the copy of an artifact lies in the folder of copies, step by step; undefined for a path that leads out of it. */
export function stepsOf(path: string): readonly string[] | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..') || path.includes('\0')) return undefined
  return isAbsolute(path) ? ['outside', ...parts] : parts
}

/** Opens the copy of an artifact; follows no link. Throws NOT_FOUND where there is none, PRECONDITION for a folder. */
export async function openKept(
  folder: string,
  { name, path }: Pick<ShownArtifact, 'name' | 'path'>,
): Promise<{ readonly file: FileHandle; readonly bytes: number }> {
  const steps = path === undefined ? undefined : stepsOf(path)
  if (!steps) throw new ToolError('NOT_FOUND', `no copy of '${name}' was kept`)
  const file = await openInside(folder, steps).catch((error: unknown) => {
    if (error instanceof Refusal)
      throw new ToolError('NOT_FOUND', `the copy of '${name}' ${error.message}`)
    throw error
  })
  const stats = await file.stat()
  if (stats.isFile() && stats.nlink === 1) return { file, bytes: stats.size }
  await file.close()
  throw new ToolError(
    'PRECONDITION',
    stats.isDirectory()
      ? `'${name}' is a folder, and cannot be had in one piece`
      : `the copy of '${name}' is no file that a runner made`,
    { ...(stats.isDirectory() && { suggestion: `Look into it: ${folder}` }) },
  )
}

async function isKept(folder: string, path: string): Promise<boolean> {
  try {
    const { file } = await openKept(folder, { name: path, path })
    await file.close()
    return true
  } catch {
    return false
  }
}
