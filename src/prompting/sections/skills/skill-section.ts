import type { Section } from '../section-type.ts'
import type { SkillSectionOptions } from './skill-options.ts'

/** Loads a folder with a SKILL.md as a section: its description is shown until the section is opened (`visibility: 'full'` shows all at once); then `read_skill_file` reads the other files of the folder. Throws INVALID_PATH or CONFIG. */
export async function skillSection(
  folder: string,
  options: SkillSectionOptions = {},
): Promise<Section> {
  return (await import('./make-skill-section.ts')).makeSkillSection(folder, options)
}
