/**
 * Files that a tool created, as content blocks and as resources.
 */

import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Artifact, ContentBlock } from '../protocol/outcome.ts'

const MAX_EMBEDDED_TEXT_BYTES = 32_768
const MAX_EMBEDDED_MEDIA_BYTES = 1_048_576
const MAX_READ_BYTES = 16 * 1_048_576
const MIME_TYPES: { readonly [extension: string]: string } = {
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.ts': 'text/x-typescript',
  '.py': 'text/x-python',
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.log': 'text/plain',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
}

/**
 * What a call left behind as content: small texts embedded, pictures and sound as such, everything
 * else as a link.
 */
export function toArtifactBlocks(artifacts: readonly Artifact[]): Promise<ContentBlock[]> {
  return Promise.all(artifacts.map(toArtifactBlock))
}

/**
 * Reads a file that an artifact names, as `resources/read` gives it; gives words for why it cannot.
 */
export async function readArtifact(
  uri: string,
): Promise<
  | { readonly mimeType: string; readonly text: string }
  | { readonly mimeType: string; readonly blob: string }
  | string
> {
  let bytes: Buffer
  let path: string
  try {
    path = fileURLToPath(uri)
    const stats = await stat(path)
    // Anything else could block for ever.
    if (!stats.isFile()) return 'is no file any more'
    if (stats.size > MAX_READ_BYTES)
      return `is bigger than ${MAX_READ_BYTES} bytes: read it from the disk`
    bytes = await readFile(path)
  } catch (error) {
    return `cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`
  }
  const mimeType = getMimeType(path) ?? 'application/octet-stream'
  return isTextType(mimeType)
    ? { mimeType, text: bytes.toString('utf8') }
    : { mimeType, blob: bytes.toString('base64') }
}

async function toArtifactBlock({ name, uri }: Artifact): Promise<ContentBlock> {
  const link = { type: 'resource_link', uri, name } as const
  if (!uri.startsWith('file:')) return link
  try {
    const path = fileURLToPath(uri)
    const stats = await stat(path)
    if (!stats.isFile()) return link
    const mimeType = getMimeType(path)
    const { size } = stats
    if (mimeType === undefined) return { ...link, size }
    if (isTextType(mimeType) && size <= MAX_EMBEDDED_TEXT_BYTES)
      return { type: 'resource', resource: { uri, mimeType, text: await readFile(path, 'utf8') } }
    const kind = mimeType.split('/')[0]
    if ((kind === 'image' || kind === 'audio') && size <= MAX_EMBEDDED_MEDIA_BYTES)
      return { type: kind, data: await readFile(path, 'base64'), mimeType }
    return { ...link, mimeType, size }
  } catch {
    // The file may be gone again, or the address may not be one of this machine: the link is all
    // there is to say.
    return link
  }
}

function getMimeType(path: string): string | undefined {
  return MIME_TYPES[extname(path).toLowerCase()]
}

function isTextType(mimeType: string): boolean {
  return mimeType.startsWith('text/') || /^application\/(json|jsonl|xml|yaml)$/.test(mimeType)
}
