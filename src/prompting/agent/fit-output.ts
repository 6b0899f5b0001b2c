import type { ContentBlock } from '../../contract/content.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { contentText, outcomeText } from '../../contract/providers/outcome-text.ts'

const LIMIT = 50_000
/** Characters of base64 that pictures of one message may have. */
const MOST_DATA = 8 * 1024 * 1024

/** What a model is told about an outcome: text that fits, and pictures that are not too many. */
export function fitOutput(
  outcome: Outcome,
  limit = LIMIT,
): { readonly text: string; readonly content?: readonly ContentBlock[] } {
  const blocks = outcome.ok ? (outcome.content ?? []) : []
  let data = 0
  const shown: ContentBlock[] = []
  const told: string[] = []
  for (const block of blocks) {
    if (block.type === 'image' && (data += block.data.length) <= MOST_DATA) shown.push(block)
    else told.push(contentText(block))
  }
  const text =
    [outcomeText(outcome), ...told].filter((part) => part !== '').join('\n\n') ||
    (shown.length > 0 ? shown.map(contentText).join('\n') : 'Done.')
  return { text: cutMiddle(text, limit), ...(shown.length > 0 && { content: shown }) }
}

/** A text with its middle taken out where it is too long: the beginning says what it is, the end how it went. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const tail = Math.floor(limit / 5)
  const head = limit - tail
  return `${whole(text.slice(0, head))}\n\n[${text.length - limit} of ${text.length} characters were left out here: the output is too long. Call the tool again with a narrower request, if you need them.]\n\n${whole(text.slice(text.length - tail))}`
}

// Half a character is none.
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}
