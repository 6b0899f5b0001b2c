import { bold, roffLines } from './roff.ts'

/** A term and what it means. */
export function item(term: string, text: string): string[] {
  return ['.TP', bold(term), text === '' ? '\\&' : roffLines(text)]
}

/** Paragraphs of a text. */
export function paragraphs(text: string): string[] {
  return text.split(/\n\s*\n/).flatMap((part) => ['.PP', roffLines(part.trim())])
}
