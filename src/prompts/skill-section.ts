/**
 * A folder with a SKILL.md as a section: `skillSection()`. The folder is read by skill-folder.ts,
 * which is loaded on first use because it needs a YAML parser.
 */

import type { Section, SkillSectionOptions } from './section.ts'

/**
 * Loads a folder with a SKILL.md as a section: its description is shown until the section is opened
 * (`visibility: 'full'` shows all at once); then `read_skill_file` reads the other files of the
 * folder. Throws INVALID_PATH or CONFIG.
 */
export async function skillSection(
  folder: string,
  options: SkillSectionOptions = {},
): Promise<Section> {
  return (await import('./skill-folder.ts')).createSkillSection(folder, options)
}
