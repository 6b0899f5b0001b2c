/** Something that is wrong with a value, and where: keys and positions from here on. */
export type Problem = { readonly path: readonly (string | number)[]; readonly message: string }

const PART = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([^.[\]]+)/y

/** The parts of a path as messages write it: `filter.max[0]`, `["a b"].c`. */
export function readPath(text: string): readonly (string | number)[] {
  const parts: (string | number)[] = []
  PART.lastIndex = 0
  for (let match = PART.exec(text); match; match = PART.exec(text))
    parts.push(
      match[1] !== undefined
        ? Number(match[1])
        : match[2] !== undefined
          ? (JSON.parse(match[2]) as string)
          : match[3]!,
    )
  return parts
}

/** The problems inside of a part, as that part sees them. */
export function inside(problems: readonly Problem[], part: string | number): readonly Problem[] {
  return problems
    .filter(({ path }) => path.length > 0 && path[0] === part)
    .map(({ path, message }) => ({ path: path.slice(1), message }))
}

/** The problems that none of the parts shows: those of the whole, and those of parts that are not drawn. */
export function outside(
  problems: readonly Problem[],
  parts: readonly (string | number)[],
): readonly Problem[] {
  return problems.filter(({ path }) => path.length === 0 || !parts.includes(path[0]!))
}
