/**
 * Finds what a build needs on disk: packages such as esbuild and postject, the nearest
 * package.json, and the built files of this package.
 */

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as Esbuild from 'esbuild'
import { ToolError } from '../protocol/tool-error.ts'
import { isObject } from '../util/values.ts'

/**
 * The path of a file of a package: of the project that is built, else of the one that lies beside
 * this package. Throws DEPENDENCY, with the command that installs it, where there is none.
 */
export function findPackageFile(name: string, file: string, entry: string, what: string): string {
  for (const from of [entry, import.meta.url]) {
    try {
      return createRequire(from).resolve(file)
    } catch (error) {
      if (
        !['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes(
          (error as NodeJS.ErrnoException).code ?? '',
        )
      )
        throw error
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

/**
 * The bundler of the project that is built, else the one that lies beside this package. Throws
 * DEPENDENCY, with the command that installs it, where there is none.
 */
export async function loadEsbuild(entry: string): Promise<typeof Esbuild> {
  const loaded = (await import(
    pathToFileURL(findPackageFile('esbuild', 'esbuild', entry, 'building')).href
  )) as { readonly default?: typeof Esbuild } & typeof Esbuild
  return loaded.default ?? loaded
}

/** What the nearest package.json says. */
type PackageInfo = { readonly name?: string; readonly version?: string; readonly type?: string }

/** Reads the nearest package.json of a folder and those above it; empty where there is none. */
export function readNearestPackage(folder: string): PackageInfo {
  for (let current = folder; ; current = dirname(current)) {
    const file = join(current, 'package.json')
    if (existsSync(file)) return readPackageInfo(file)
    if (dirname(current) === current) return {}
  }
}

/** A name that a program can have, from a package or a file. */
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
  try {
    const data: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isObject(data)) return {}
    return Object.fromEntries(
      ['name', 'version', 'type'].flatMap((key) =>
        typeof data[key] === 'string' ? [[key, data[key]]] : [],
      ),
    )
  } catch {
    return {}
  }
}

/** From the built program, from the built files, and from the sources. */
const OWN_FOLDERS = ['./', '../', '../../dist/']

/**
 * The folder of this package's built files, which a program is bundled from. Throws CONFIG where it
 * is missing.
 */
export function findOwnFolder(): string {
  const folder = OWN_FOLDERS.map((place) => fileURLToPath(new URL(place, import.meta.url))).find(
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
