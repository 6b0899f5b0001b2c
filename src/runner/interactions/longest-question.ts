/** Seconds that a question of a tool waits which has no time of its own. Those of workflows wait for as long as it takes. */
export const LONGEST_QUESTION_S = 24 * 3600
