import type { ContentBlock } from '../../../../contract/content.ts'
import { cleanLine, cleanText } from './clean.ts'

/** Content as a person reads it: texts as they are, and one line for each picture, sound or file. */
export function renderContent(content: readonly ContentBlock[] = []): string {
  return content
    .map((block) =>
      block.type === 'text' ? endLine(cleanText(block.text)) : `[${cleanLine(describe(block))}]\n`,
    )
    .join('')
}

function describe(block: Exclude<ContentBlock, { readonly type: 'text' }>): string {
  if (block.type === 'resource') {
    const { resource } = block
    const size = 'text' in resource ? Buffer.byteLength(resource.text) : base64Size(resource.blob)
    return [`resource ${resource.uri}`, ...optional(resource.mimeType), countBytes(size)].join(', ')
  }
  if (block.type === 'resource_link')
    return [
      `link ${block.uri}`,
      ...optional(block.title ?? block.name),
      ...optional(block.mimeType),
      ...(block.size === undefined ? [] : [countBytes(block.size)]),
    ].join(', ')
  return `${block.type} ${block.mimeType}, ${countBytes(base64Size(block.data))}`
}

function optional(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [text]
}

function base64Size(data: string): number {
  return Math.floor((data.replace(/=+$/, '').length * 3) / 4)
}

function countBytes(count: number): string {
  return `${count} byte${count === 1 ? '' : 's'}`
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
