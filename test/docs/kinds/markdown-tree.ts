import { Parser } from 'commonmark'

/** What a reader of Markdown finds in a page. */
export type Found = {
  readonly headings: string[]
  readonly html: string[]
  readonly blocks: { info: string; text: string }[]
  readonly links: string[]
  readonly images: number
  readonly text: string
  readonly rules: number
}

/** Reads a page with the reference parser of CommonMark. */
export function readMarkdown(page: string): Found {
  const found = {
    headings: [] as string[],
    html: [] as string[],
    blocks: [] as { info: string; text: string }[],
    links: [] as string[],
    images: 0,
    text: '',
    rules: 0,
  }
  const walker = new Parser().parse(page).walker()
  let heading: string | undefined
  for (let event = walker.next(); event; event = walker.next()) {
    const { node, entering } = event
    if (node.type === 'heading') {
      if (!entering) found.headings.push(heading ?? '')
      heading = entering ? '' : undefined
    } else if (!entering) continue
    else if (node.type === 'html_block' || node.type === 'html_inline')
      found.html.push(node.literal ?? '')
    else if (node.type === 'code_block')
      found.blocks.push({ info: node.info ?? '', text: node.literal ?? '' })
    else if (node.type === 'link') found.links.push(decodeURI(node.destination ?? ''))
    else if (node.type === 'image') found.images++
    else if (node.type === 'thematic_break') found.rules++
    else if (node.type === 'text' || node.type === 'code') {
      found.text += node.literal ?? ''
      if (heading !== undefined) heading += node.literal ?? ''
    }
  }
  return found
}

/** The head of a page and what follows it. */
export function splitHead(page: string): { readonly head: string; readonly body: string } {
  const match = /^---\n([^]*?)\n---\n([^]*)$/.exec(page)
  if (!match) throw new Error(`no head: ${page.slice(0, 200)}`)
  return { head: match[1]!, body: match[2]! }
}
