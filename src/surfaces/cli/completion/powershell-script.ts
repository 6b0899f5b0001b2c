/** Completion for Windows PowerShell 5.1 and PowerShell 7. */
export function powershellScript(program: string, identifier: string): string {
  const name = `'${program.replaceAll("'", "''")}'`
  return `# Completion of ${name} for PowerShell.
#
# For this session only:
#   & ${name} completion powershell | Out-String | Invoke-Expression
# For every new session, written to a file that the profile loads:
#   & ${name} completion powershell > "$HOME/${identifier}.completion.ps1"
#   Add-Content $PROFILE '. "$HOME/${identifier}.completion.ps1"'

Register-ArgumentCompleter -Native -CommandName ${name} -ScriptBlock {
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

    $answer = @(& ${name} __complete '--' @words 2>$null)
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
`
}
