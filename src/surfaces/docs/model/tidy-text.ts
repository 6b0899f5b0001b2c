import { ELLIPSIS } from '../../../contract/wide-characters.ts'
import { cleanText } from '../../cli/output/text/clean.ts'

/** A text of an author without what no document can carry: control sequences, halves of characters, byte order marks. Line breaks stay. */
export function tidyText(text: string): string {
  return cleanText(text.replace(/\r\n?/g, '\n').replaceAll('\t', '  '))
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[\ufeff\ufffe\uffff]/g, '')
    .trim()
}

/** The same on one line. */
export function tidyLine(text: string): string {
  return tidyText(text).replace(/\s+/g, ' ')
}

/** A text of at most so many characters, cut between words where there are words; `...` shows the cut. */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text
  const room = longest - ELLIPSIS.length
  const head = text.slice(0, room + 1)
  const space = head.lastIndexOf(' ')
  const cut = space >= room / 2 ? head.slice(0, space) : cutWhole(text, room)
  return `${cut.replace(/[\s,;:.(-]+$/, '')}${ELLIPSIS}`
}

// Some scripts put no spaces between words, and a character may be several code units long.
function cutWhole(text: string, room: number): string {
  return takeSegments(text, 'word', room) || takeSegments(text, 'grapheme', room)
}

// Making one takes longer than using it.
const segmenters: { word?: Intl.Segmenter; grapheme?: Intl.Segmenter } = {}

function takeSegments(text: string, granularity: 'word' | 'grapheme', room: number): string {
  let end = 0
  const segmenter = (segmenters[granularity] ??= new Intl.Segmenter('en', { granularity }))
  for (const { index, segment } of segmenter.segment(text.slice(0, room * 2))) {
    if (index + segment.length > room) break
    end = index + segment.length
  }
  return text.slice(0, end)
}
