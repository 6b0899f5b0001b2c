import type { SectionOptions } from '../section-type.ts'

/** What may be said about a skill besides its own SKILL.md. */
export type SkillSectionOptions = Partial<
  Pick<
    SectionOptions<undefined>,
    'key' | 'title' | 'summary' | 'tools' | 'guards' | 'enabled' | 'visibility' | 'children'
  >
> & {
  /** What a relative folder is relative to; default: the directory of the process. */
  readonly cwd?: string
}
