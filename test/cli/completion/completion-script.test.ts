import { describe, expect, test } from 'vitest'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { SHELLS } from '../../../src/cli/builtin-names.ts'
import { BUILTIN_COMMANDS } from '../../../src/cli/builtin-words.ts'
import { writeCompletionScript } from '../../../src/cli/completion-scripts.ts'

describe('completion scripts', () => {
  test.each(SHELLS)('%s: says how to install it, and asks the program itself', (shell) => {
    const script = writeCompletionScript(shell, 'my-tool')
    const comments = script
      .split('\n')
      .filter((line) => line.startsWith('#'))
      .join('\n')
    expect(comments).toMatch(/For this (shell|session) only/)
    expect(comments).toMatch(/For every new (shell|session)/)
    expect(comments).toMatch(new RegExp(`my-tool'? completion ${shell}`))
    expect(script).toMatch(/my-tool'? __complete/)
    expect(script.endsWith('\n')).toBe(true)
  })

  test('are written for the shells that `completion` takes', () => {
    expect(BUILTIN_COMMANDS.find(({ name }) => name === 'completion')?.words).toEqual([
      'bash',
      'zsh',
      'fish',
      'powershell',
    ])
  })

  test.each(SHELLS)('%s: candidates are never evaluated', (shell) => {
    const code = writeCompletionScript(shell, 'my-tool')
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .join('\n')
    expect(code).not.toMatch(/\beval\b|Invoke-Expression|\biex\b/)
  })

  test.each(SHELLS)('%s: programs of similar names do not share a function', (shell) => {
    const names = ['a-b', 'a_b', 'a.b', 'a b', 'a+b']
    const scripts = names.map((name) => writeCompletionScript(shell, name).replaceAll(name, ''))
    expect(new Set(scripts).size).toBe(names.length)
  })

  test.each(['', 'a\nb', 'a\u2028b', 'a\u001bb'])(
    'a name that could leave its comment is refused: %j',
    (name) => {
      for (const shell of SHELLS)
        expect(() => writeCompletionScript(shell, name)).toThrow(ToolError)
    },
  )

  test('PowerShell', () => {
    expect(writeCompletionScript('powershell', "it's")).toMatchInlineSnapshot(`
      "# Completion of 'it''s' for PowerShell.
      #
      # For this session only:
      #   & 'it''s' completion powershell | Out-String | Invoke-Expression
      # For every new session, written to a file that the profile loads:
      #   & 'it''s' completion powershell > "$HOME/it_x27_s.completion.ps1"
      #   Add-Content $PROFILE '. "$HOME/it_x27_s.completion.ps1"'

      Register-ArgumentCompleter -Native -CommandName 'it''s' -ScriptBlock {
          param($wordToComplete, $commandAst, $cursorPosition)

          # Constant words come without their quotes; nothing is expanded.
          $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object {
              if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
          })
          $last = $commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | Select-Object -Last 1
          if ($last.Extent.EndOffset -lt $cursorPosition) {
              # Versions before 7.3 leave out empty arguments of programs.
              $words += if ($PSVersionTable.PSVersion -lt [version]'7.3') { '""' } else { '' }
          }

          $answer = @(& 'it''s' __complete '--' @words 2>$null)
          if ($answer.Count -eq 0) { return }
          $directive = $answer[-1]
          $found = @($answer | Select-Object -SkipLast 1 | ForEach-Object {
              $value, $description = $_ -split "\`t", 2
              $text = if ($value -match '[^\\w@%+=:./-]' -or $value -match '^@') { "'" + $value.Replace("'", "''") + "'" } else { $value }
              $tip = if ($description) { $description } else { $value }
              [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $tip)
          })
          if ($found.Count -gt 0) { return $found }
          # An empty answer would make PowerShell offer file names, which is right only where a path is wanted.
          if ($directive -eq ':none') { '' }
      }
      "
    `)
  })
})
