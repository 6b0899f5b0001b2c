/**
 * Finds what a build needs on disk: packages such as esbuild and postject, the nearest
 * package.json, and the built files of this package.
 */

import type * as Esbuild from 'esbuild'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ToolError } from '../protocol/tool-error.ts'
import { hasErrorCode, readTextFile } from '../util/files.ts'
import { compact, parseJsonObject } from '../util/values.ts'

/**
 * Finds a file of a package in the project that is built, else beside this package. Throws
 * DEPENDENCY, with the command that installs it.
 */
export function findPackageFile(name: string, file: string, entry: string, what: string): string {
  for (const from of [entry, import.meta.url]) {
    try {
      return createRequire(from).resolve(file)
    } catch (error) {
      if (!hasErrorCode(error, 'MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND')) throw error
    }
  }
  throw new ToolError('DEPENDENCY', `${what} needs the package '${name}', which is not installed`, {
    retryable: false,
    recoverable: true,
    suggestion: {
      fix: 'Install it into the project',
      example: `npm install --save-dev ${name}`,
      applicability: 'machine_applicable',
    },
  })
}

/** Loads esbuild from the project that is built, else from beside this package. Throws DEPENDENCY. */
export async function loadEsbuild(entry: string): Promise<typeof Esbuild> {
  const loaded = (await import(
    pathToFileURL(findPackageFile('esbuild', 'esbuild', entry, 'building')).href
  )) as { readonly default?: typeof Esbuild } & typeof Esbuild
  return loaded.default ?? loaded
}

/** Fields of a package.json. */
type PackageInfo = { readonly name?: string; readonly version?: string; readonly type?: string }

/** Reads the nearest package.json in a folder or above it; empty when there is none. */
export function readNearestPackage(folder: string): PackageInfo {
  for (let current = folder; ; current = dirname(current)) {
    const file = join(current, 'package.json')
    if (existsSync(file)) return readPackageInfo(file)
    if (dirname(current) === current) return {}
  }
}

/** Derives the name of a program from its package or its file. */
export function toProgramName(entry: string, { name }: PackageInfo): string {
  const given = name?.replace(/^@[^/]*\//, '') ?? basename(entry).replace(/\.[^.]*$/, '')
  return (
    given
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 64) || 'program'
  )
}

function readPackageInfo(file: string): PackageInfo {
  const data = parseJsonObject(readTextFile(file) ?? '') ?? {}
  const read = (key: string): string | undefined =>
    typeof data[key] === 'string' ? data[key] : undefined
  return compact({ name: read('name'), version: read('version'), type: read('type') })
}

/** From the built program, from the built files, and from the sources. */
const OWN_FOLDERS = ['./', '../', '../../dist/']

/** Finds the built files of this package, which are bundled into programs. Throws CONFIG. */
export function findOwnFolder(): string {
  const folder = OWN_FOLDERS.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(
    (path) => existsSync(`${path}built.js`),
  )
  if (folder !== undefined) return folder
  throw new ToolError('CONFIG', 'the package misses the files that programs are built from', {
    suggestion: {
      fix: 'Install toolable again; in its repository, build it',
      example: 'npm run build',
    },
  })
}
