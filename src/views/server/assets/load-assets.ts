import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ToolError } from '../../../contract/tool-error.ts'

/** A file of the page, in memory. */
export type Asset = {
  readonly type: string
  readonly bytes: Uint8Array
  /** Absent where it would not be smaller. */ readonly gzip?: Uint8Array
  readonly hash: string
  /** Its name changes with its content, so that it may be kept for ever. */ readonly isFixed: boolean
}

/** The files of the page by their paths; `/index.html` is among them. */
export type Assets = ReadonlyMap<string, Asset>

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}

/** Reads the built page, once: nothing else of the disk can be asked for, whatever a path says. Throws CONFIG where it was not built. */
export function loadAssets(folder: string): Assets {
  const assets = new Map(listFiles(folder).map((name) => [`/${name}`, read(join(folder, name))]))
  if (assets.has('/index.html')) return assets
  throw new ToolError('CONFIG', `the page of the dashboard is not in ${folder}`, {
    suggestion: {
      fix: 'Install the package again; in its repository, build it',
      example: 'npm run build',
    },
  })
}

function listFiles(folder: string, inside = ''): string[] {
  let entries
  try {
    entries = readdirSync(join(folder, inside), { withFileTypes: true })
  } catch {
    return []
  }
  return entries.flatMap((entry) =>
    entry.isDirectory()
      ? listFiles(folder, `${inside}${entry.name}/`)
      : entry.isFile()
        ? [`${inside}${entry.name}`]
        : [],
  )
}

function read(file: string): Asset {
  const bytes = readFileSync(file)
  const gzip = gzipSync(bytes, { level: 9 })
  return {
    type: TYPES[extname(file)] ?? 'application/octet-stream',
    bytes,
    ...(gzip.length < bytes.length && { gzip }),
    hash: createHash('sha256').update(bytes).digest('base64url').slice(0, 22),
    isFixed: /-[\w-]{8,}\.\w+$/.test(file),
  }
}
