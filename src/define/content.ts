import type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
} from '../contract/content.ts'
import { ToolError } from '../contract/tool-error.ts'

type LinkOptions = Partial<Omit<ResourceLink, 'type' | 'uri'>>
type Annotations = NonNullable<ContentBlock['annotations']>

/** Builds what a model is shown besides a message: `ok(result, { content: [content.image(bytes, 'image/png')] })`. Bytes become base64; text given for bytes has to be base64 already. */
export const content = {
  text: (text: string, annotations?: Annotations): TextContent => ({
    type: 'text',
    text,
    ...annotate(annotations),
  }),
  image: (
    data: Uint8Array | string,
    mimeType: string,
    annotations?: Annotations,
  ): ImageContent => ({ type: 'image', data: toBase64(data), mimeType, ...annotate(annotations) }),
  audio: (
    data: Uint8Array | string,
    mimeType: string,
    annotations?: Annotations,
  ): AudioContent => ({ type: 'audio', data: toBase64(data), mimeType, ...annotate(annotations) }),
  /** A resource with its contents: text stays text, bytes become base64. */
  resource(
    uri: string,
    contents: string | Uint8Array,
    mimeType?: string,
    annotations?: Annotations,
  ): EmbeddedResource {
    const place = { uri, ...(mimeType !== undefined && { mimeType }) }
    return {
      type: 'resource',
      resource:
        typeof contents === 'string'
          ? { ...place, text: contents }
          : { ...place, blob: toBase64(contents) },
      ...annotate(annotations),
    }
  },
  /** A resource that the reader may fetch; without a name the last part of its address is the name. */
  link: (uri: string, { name = lastPart(uri), ...more }: LinkOptions = {}): ResourceLink => ({
    type: 'resource_link',
    uri,
    name,
    ...more,
  }),
} as const

/** Base64 of bytes; text is taken as base64 already. */
export function toBase64(data: Uint8Array | string): string {
  if (typeof data === 'string') return data
  if (data instanceof Uint8Array)
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
  throw new ToolError('INTERNAL', 'content takes bytes (a Uint8Array) or base64 text')
}

function annotate(annotations: Annotations | undefined): { readonly annotations?: Annotations } {
  return annotations === undefined ? {} : { annotations }
}

function lastPart(uri: string): string {
  const part =
    String(uri)
      .split(/[?#]/)[0]!
      .split('/')
      .findLast((each) => each !== '') ?? String(uri)
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
