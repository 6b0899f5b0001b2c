import type { Refusal } from './candidate.ts'

/** A file that is reached by a link which leaves the folder. */
export function outside(key: string, path: string): Refusal {
  return {
    key,
    path,
    reason: 'outside',
    message: `${key} is a link that leads out of the folder`,
    fix: 'Put the file itself there, or name the folder where it is',
  }
}

/** TypeScript is for the module source. */
export function typescript(key: string, path: string): Refusal {
  return {
    key,
    path,
    reason: 'typescript',
    message: `${key} is TypeScript, which a folder does not run`,
    fix: `Name it as a module: modules: [${JSON.stringify(path)}], or build it to JavaScript`,
  }
}
