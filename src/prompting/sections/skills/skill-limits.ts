/** The most that a skill may have. */
export const SKILL_LIMITS = {
  fileBytes: 1024 * 1024,
  bytes: 10 * 1024 * 1024,
  entries: 1000,
  depth: 10,
  name: 64,
  description: 1024,
} as const
