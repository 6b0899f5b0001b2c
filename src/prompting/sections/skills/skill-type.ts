/** A folder with a SKILL.md, read and checked. */
export type SkillFolder = {
  readonly name: string
  readonly description: string
  /** What stands below the head of SKILL.md. */
  readonly text: string
  /** The folder itself, all links followed. */
  readonly folder: string
  /** Its other files, with `/` between the parts, sorted. */
  readonly files: readonly string[]
}
