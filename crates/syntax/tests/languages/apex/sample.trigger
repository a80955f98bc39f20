trigger RelayTrigger on Account (before insert) {
    for (Account a : Trigger.new) {
        RelayService.check(a);
    }
}

/**
 * Checks accounts.
 */
public with sharing class RelayService {
    public static void check(Account a) {
        validate(a);
    }

    @AuraEnabled
    public static List<Account> recent(Integer n) {
        return [SELECT Id FROM Account LIMIT :n];
    }
}
