import type { HttpAnswer } from '../../../surfaces/http/exchange.ts'
import type { RunsSource } from '../backend.ts'
import { ATTACHMENT_POLICY } from '../door/headers.ts'

const LONGEST_NAME = 150

/** A file that a tool has made: to be saved, never to be shown, whatever is in it and whatever it is called. */
export function attachmentAnswer({
  name,
  bytes,
  body,
}: Awaited<ReturnType<RunsSource['artifact']>>): HttpAnswer {
  return {
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(bytes),
      'content-disposition': disposition(name),
      'content-security-policy': ATTACHMENT_POLICY,
      'cache-control': 'no-store',
      'accept-ranges': 'none',
    },
    body: exactly(body, bytes),
  }
}

/** The header that names a file to save: for old readers in plain letters, for all others as it is. */
export function disposition(name: string): string {
  const last = name
    .split(/[/\\]/)
    .at(-1)!
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
  const clean = [...(/^\.*$/.test(last) ? 'artifact' : last)].slice(0, LONGEST_NAME).join('')
  const plain = clean.replace(/[^\w .()+,=@-]/g, '_')
  const exact = encodeURIComponent(clean).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}

// The length was told before: a file that grows or shrinks meanwhile must not become a part of the next answer.
async function* exactly(
  body: AsyncIterable<Uint8Array>,
  bytes: number,
): AsyncGenerator<Uint8Array, void, void> {
  let left = bytes
  for await (const chunk of body) {
    if (chunk.length > left) throw new Error('the file has grown while it was sent')
    left -= chunk.length
    yield chunk
  }
  if (left > 0) throw new Error('the file has shrunk while it was sent')
}
