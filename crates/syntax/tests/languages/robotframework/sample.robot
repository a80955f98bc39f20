*** Settings ***
Library    Collections

*** Variables ***
${LIMIT}    64

*** Test Cases ***
Events Are Kept
    Push Event    first
    Should Be Equal    1    1

*** Keywords ***
Push Event
    [Arguments]    ${name}
    Log    ${name}
