/**
 * A little terminal: enough to see what a painter writes. Lines that leave it at the top are kept.
 */
export class Emulator {
  readonly history: string[] = []
  cells: string[][]
  row = 0
  column = 0
  cursor = true

  constructor(
    readonly columns: number,
    readonly rows: number,
  ) {
    this.cells = Array.from({ length: rows }, () => [])
  }

  write(text: string): void {
    for (const [token] of text.matchAll(/\u001b\[([?\d;]*)([A-Za-z])|[\s\S]/g)) {
      const [, given = '', command = ''] = /^\u001b\[([?\d;]*)([A-Za-z])$/.exec(token) ?? []
      if (command !== '') this.obey(command, given)
      else if (token === '\n') this.newLine()
      else if (token === '\r') this.column = 0
      else this.put(token)
    }
  }

  /** Everything that was ever seen, without empty lines at the end. */
  text(): string {
    return [
      ...this.history,
      ...this.cells.map((row) =>
        Array.from(row, (cell) => cell ?? ' ')
          .join('')
          .trimEnd(),
      ),
    ]
      .join('\n')
      .trimEnd()
  }

  private put(character: string): void {
    if (this.column >= this.columns) this.newLine()
    this.cells[this.row]![this.column] = character
    this.column += 1
  }

  private newLine(): void {
    this.column = 0
    this.row += 1
    if (this.row < this.rows) return
    this.row = this.rows - 1
    this.history.push(this.cells.shift()!.join('').trimEnd())
    this.cells.push([])
  }

  private obey(command: string, given: string): void {
    const by = Number(given) || 1
    if (command === 'A') this.row = Math.max(0, this.row - by)
    else if (command === 'B') this.row = Math.min(this.rows - 1, this.row + by)
    else if (command === 'K' && given === '2') this.cells[this.row] = []
    else if (command === 'K')
      this.cells[this.row]!.length = Math.min(this.cells[this.row]!.length, this.column)
    else if (given === '?25') this.cursor = command === 'h'
    else if (given !== '?2026' && command !== 'm')
      throw new Error(`unknown sequence ${given}${command}`)
  }
}
