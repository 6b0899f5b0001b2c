import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const MARKS = ['.git', 'package.json', 'pyproject.toml']

/** What a tool needs to see of the places that the sandbox hides: its folder, and the project around it, because tools import what lies beside them. */
export function listNeighbours(path: string): string[] {
  return [...new Set([path, realPath(path)])].flatMap((file) => {
    const folders = ancestors(file)
    const projects = MARKS.map((mark) => folders.find((folder) => existsSync(join(folder, mark))))
    return [folders[0], ...projects].filter((folder): folder is string => folder !== undefined)
  })
}

// Up to the home directory, which is nobody's project.
function ancestors(file: string): string[] {
  const stops = new Set(['/', '/home', '/root', '/tmp', '/var/tmp', homedir()])
  const folders: string[] = []
  for (
    let folder = dirname(file);
    !stops.has(folder) && dirname(folder) !== '/home';
    folder = dirname(folder)
  )
    folders.push(folder)
  return folders
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
