import type { ShownSection } from './decide.ts'

/** Sections as Markdown, one heading level for each level of sections. */
export async function writeSections(sections: readonly ShownSection[]): Promise<string> {
  const texts: string[] = []
  for (const section of sections) texts.push(await writeSection(section))
  return texts.join('\n\n')
}

/** One section; `whole` shows what its summary stands for. */
export async function writeSection(
  { placed: { section, depth }, summary, body, children }: ShownSection,
  whole = false,
): Promise<string> {
  const heading = `${'#'.repeat(depth)} ${section.title}`
  if (summary !== undefined && !whole)
    return `${heading}\n\n${summary}\n\n${howToOpen(section.key)}`
  return [heading, await body(), await writeSections(await children())]
    .filter((text) => text !== '')
    .join('\n\n')
}

function howToOpen(key: string): string {
  return `(Summary. To open this section with its tools, call \`open_sections\` with {"section_keys":["${key}"]}; to read it only, call \`read_section\` with {"section_key":"${key}"}.)`
}
