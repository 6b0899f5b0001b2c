/** Paths and small files: what every subsystem asks the file system. */

import type { Stats } from 'node:fs'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  watch,
} from 'node:fs'
import { join, sep } from 'node:path'

/** The byte that ends a line. */
export const LINE_FEED = 0x0a

/** True for an error of the system with one of these codes, such as `ENOENT`. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = (error as NodeJS.ErrnoException | null | undefined)?.code
  return code !== undefined && codes.includes(code)
}

/** Reads a file as text. Returns undefined when it cannot be read, and for pipes and devices. */
export function readTextFile(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? readFileSync(file, 'utf8') : undefined
  } catch {
    return undefined
  }
}

/** Lists the names in a folder; none when it cannot be read. */
export function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** True when the path is the folder or lies below it. Both must be absolute and normalized. */
export function isPathInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** Resolves links in a path. Returns undefined when it does not exist. */
export function resolveRealPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** The size and times of a file or folder; undefined when they cannot be read. */
export function statOrUndefined(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/**
 * Watches a folder; returns undefined when it cannot be watched. A watcher may miss changes and ends
 * when the folder goes, so callers also poll.
 */
export function watchFolder(
  folder: string,
  onChange: (name: string | null) => void,
  {
    persistent = true,
    onError = () => undefined,
  }: { readonly persistent?: boolean; readonly onError?: () => void } = {},
): { close(): void } | undefined {
  try {
    return watch(folder, { persistent }, (_kind, name) => onChange(name)).on('error', onError)
  } catch {
    return undefined
  }
}

/** Runs some work in a new temporary folder, and removes the folder afterwards. */
export async function withTemporaryFolder<T>(
  prefix: string,
  work: (folder: string) => T | Promise<T>,
): Promise<T> {
  // Loaded here: this file is on the start path of the registry, where nothing needs the module.
  const { tmpdir } = await import('node:os')
  const folder = mkdtempSync(join(tmpdir(), prefix))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
